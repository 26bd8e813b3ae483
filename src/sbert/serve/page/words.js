// The words of the page in English and Korean, and the choice between them.
const WORDS = {
  en: {
    sections: "Sections", search: "Search", compare: "Compare", map: "Map", documents: "Documents", status: "Status",
    key: "Key", query: "Query", queryHint: "What are you looking for?", mode: "Mode", hybrid: "Meaning and words",
    vector: "Meaning", lexical: "Words", count: "Hits", filter: "Filter", rerank: "Re-rank", more: "More like this",
    remove: "Delete", sure: "Delete this document?", add: "Add", id: "Id", metadata: "Metadata (JSON)",
    addHeading: "Add documents", addHint: "One text per line. A document with the same id is replaced.",
    removeHeading: "Delete a document", sentencesHint: "Two to twenty sentences, one per line",
    heatMap: "Similarities", tooFew: "Enter two to twenty sentences, one per line.", drawing: "The map is being drawn …",
    latency: "Latency in ms: p50, p99", throughput: "Requests per second", keyHeading: "API key",
    keyHint: "The key is kept until this tab is closed.", cancel: "Cancel", save: "Save", nothing: "No documents found.",
    found: (count, ms) => `${count} ${count === 1 ? "hit" : "hits"} in ${ms} ms`, similarTo: (id) => `, similar to ${id}`,
    approximate: ", approximate", added: (new_, changed) => `${new_} added, ${changed} replaced.`,
    deleted: (count) => (count ? "Deleted." : "There is no such document."), requests: "Requests per minute", p50: "p50",
    p99: "p99", tokens: "Tokens per second", texts: "Documents", waiting: "Queued tokens", cache: "Cache hits",
    uptime: "Uptime", model: "Model", kind: "Kind", length: "Maximum length", failed: "Failed",
    offline: "The server does not respond.", badMetadata: "The metadata is not a JSON object.", other: "한국어",
    oneId: "An id identifies one document; enter only one line.",
  },
  ko: {
    sections: "메뉴", search: "검색", compare: "비교", map: "지도", documents: "문서", status: "상태", key: "키",
    query: "검색어", queryHint: "무엇을 찾으세요?", mode: "검색 방식", hybrid: "의미와 단어", vector: "의미", lexical: "단어",
    count: "결과 수", filter: "필터", rerank: "리랭킹", more: "비슷한 문서", remove: "삭제", sure: "이 문서를 삭제할까요?",
    add: "추가", id: "ID", metadata: "메타데이터 (JSON)", addHeading: "문서 추가",
    addHint: "한 줄에 문서를 하나씩 입력하세요. ID가 같은 문서는 새 내용으로 바뀝니다.", removeHeading: "문서 삭제",
    sentencesHint: "문장 2~20개(한 줄에 하나씩)", heatMap: "유사도", tooFew: "문장을 2~20개, 한 줄에 하나씩 입력하세요.",
    drawing: "지도를 그리는 중입니다…", latency: "응답 시간(ms): p50, p99", throughput: "초당 요청", keyHeading: "API 키",
    keyHint: "키는 이 탭을 닫을 때까지만 보관됩니다.", cancel: "취소", save: "저장", nothing: "검색 결과가 없습니다.",
    found: (count, ms) => `결과 ${count}개, ${ms} ms`, similarTo: (id) => `, ${id}와(과) 비슷한 문서`,
    approximate: ", 근사", added: (new_, changed) => `추가 ${new_}개, 변경 ${changed}개.`,
    deleted: (count) => (count ? "삭제했습니다." : "해당 ID의 문서가 없습니다."), requests: "분당 요청", p50: "p50", p99: "p99",
    tokens: "초당 토큰", texts: "문서", waiting: "대기 중인 토큰", cache: "캐시 적중", uptime: "가동 시간", model: "모델",
    kind: "종류", length: "최대 길이", failed: "실패", offline: "서버가 응답하지 않습니다.",
    badMetadata: "메타데이터가 JSON 객체가 아닙니다.", other: "English", oneId: "ID를 지정할 때는 문서를 하나만 입력하세요.",
  },
};

let language = localStorage.getItem("language") ?? (navigator.language.startsWith("ko") ? "ko" : "en");

/** Return the text of a word in the language of the page. */
export const word = (name, ...values) => {
  const found = WORDS[language][name];
  return typeof found === "function" ? found(...values) : found;
};

/** Write every word of the page in its language. */
export function translate() {
  document.documentElement.lang = language;
  for (const one of document.querySelectorAll("[data-word]")) one.textContent = word(one.dataset.word);
  for (const one of document.querySelectorAll("[data-label]")) one.setAttribute("aria-label", word(one.dataset.label));
  for (const one of document.querySelectorAll("[data-placeholder]")) one.placeholder = word(one.dataset.placeholder);
  for (const one of document.querySelectorAll("[data-title]")) one.title = word(one.dataset.title);
  const button = document.getElementById("language");
  button.textContent = word("other");
  button.lang = language === "ko" ? "en" : "ko";
}

/** Change to the other language. */
export function switchLanguage() {
  language = language === "ko" ? "en" : "ko";
  localStorage.setItem("language", language);
  translate();
}
