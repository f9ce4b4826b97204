/* What the pages need beyond htmx. Everything here makes a page better; nothing here is needed to read a page or to send a form.

   - a form's token is read when it is sent; errors of the network are said aloud
   - times are kept fresh; deadlines run down
   - live: the socket goes on where the page is, a poll stands in while it is down
   - a half-typed answer belongs to its question: it is kept, never moved, and handed back if the question is gone
   - copy, tabs, keyboard
   No eval, no inline handlers, no styles: the content policy forbids them. */
"use strict";
(() => {
  const $ = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const root = document.documentElement;
  const store = (kind) => { try { return window[kind]; } catch { return null; } };

  /* ---- saying things ---- */
  const say = (text) => { const said = $("#said"); if (said) { said.textContent = ""; setTimeout(() => { said.textContent = text; }, 50); } };
  function toast(text, { stop = false, link = null, into = "#messages", more = null } = {}) {
    const box = document.createElement("div");
    box.className = stop ? "toast stop" : "toast";
    if (stop) box.setAttribute("role", "alert");
    const words = document.createElement("div");
    words.append(text);
    if (link) { const a = document.createElement("a"); a.href = link.href; a.textContent = link.text; words.append(" ", a); }
    if (more) words.append(more);
    const close = document.createElement("button");
    close.type = "button"; close.className = "plain"; close.dataset.dismiss = ""; close.textContent = "Dismiss";
    box.append(words, close);
    const place = $(into);
    if (!place) return;
    if (into === "#messages") place.replaceChildren(box); else place.append(box);
    place.scrollIntoView({ block: "nearest" });
  }

  /* ---- times ---- */
  let skew = 0; // the server's clock minus ours, in ms; from the Date header of its answers
  const now = () => Date.now() + skew;
  const UNITS = [[86400, "d"], [3600, "h"], [60, "min"]];
  function span(seconds, fine) {
    const s = Math.max(0, Math.floor(seconds));
    if (s < 60) return `${s} s`;
    for (let i = 0; i < UNITS.length; i++) {
      const [size, name] = UNITS[i];
      if (s < size) continue;
      const whole = Math.floor(s / size);
      const [next, nextName] = UNITS[i + 1] || [1, "s"];
      const rest = Math.floor((s % size) / next);
      const two = rest && (fine || (size === 3600 && whole < 48));
      return two ? `${whole} ${name} ${rest} ${nextName}` : `${whole} ${name}`;
    }
  }
  const two = (n) => String(n).padStart(2, "0");
  const local = (at) => `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
  const by = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  function tell(element) {
    const at = new Date(element.dateTime);
    if (isNaN(at)) return;
    const ago = (now() - at) / 1000;
    const mode = element.dataset.time;
    let text = element.textContent;
    if (mode === "ago") text = ago < 10 ? "just now" : ago < 86400 * 14 ? `${span(ago)} ago` : at.toLocaleDateString(undefined, { dateStyle: "medium" });
    else if (mode === "left") text = ago < 0 ? `${span(-ago)} left` : "time is up";
    else if (mode === "for") text = span(ago, true);
    else if (mode === "clock") text = local(at);
    else if (mode === "by") text = by.format(at);
    if (element.textContent !== text) element.textContent = text;
    const title = exact.format(at);
    if (element.title !== title) element.title = title;
  }
  function run(bar) { // <progress data-from data-until>: what is left of a deadline
    const from = Date.parse(bar.dataset.from), until = Date.parse(bar.dataset.until);
    if (until > from) { bar.max = until - from; bar.value = Math.max(0, until - now()); }
  }
  const fresh = (scope = document) => { all("time[data-time]", scope).forEach(tell); all("progress[data-until]", scope).forEach(run); };
  setInterval(() => { if (!document.hidden) fresh(); }, 1000);
  document.addEventListener("visibilitychange", () => fresh());

  /* ---- forms: the token of this moment, also in forms that came over the socket ---- */
  const token = () => (document.cookie.match(/(?:^|; )(?:__Host-|__Secure-)?layby_csrf=([^;]+)/) || [])[1];
  document.addEventListener("submit", (event) => {
    const form = event.target, value = token();
    if (form.method !== "post" || !value) return;
    let field = $("[name=csrfmiddlewaretoken]", form);
    if (!field) { field = document.createElement("input"); field.type = "hidden"; field.name = "csrfmiddlewaretoken"; form.append(field); }
    field.value = value;
  }, true);

  /* ---- half-typed answers: <form data-draft="YIELD"> ---- */
  const sending = new Map(); // yield -> its text, while a request is under way
  let muted = 0; // until then no single key counts: the field that somebody types in has just gone
  const fields = (form) => all("textarea, input, select", form).filter((f) => f.name && f.name !== "csrfmiddlewaretoken" && f.type !== "hidden" && f.type !== "submit");
  const filled = (f) => (f.type === "checkbox" || f.type === "radio" ? f.checked : f.value !== f.defaultValue && f.value.trim() !== "");
  const typed = (form) => fields(form).filter((f) => f.tagName === "TEXTAREA" || f.type === "text").map((f) => f.value.trim()).filter(Boolean).join("\n\n");
  function keep(form) {
    const kept = fields(form).filter(filled).map((f) => [f.name, f.value]);
    const box = store("sessionStorage");
    if (box) { if (kept.length) box.setItem(`draft:${form.dataset.draft}`, JSON.stringify(kept)); else box.removeItem(`draft:${form.dataset.draft}`); }
  }
  function restore(form) {
    if (form.dataset.restored) return;
    form.dataset.restored = "1";
    const kept = store("sessionStorage")?.getItem(`draft:${form.dataset.draft}`);
    if (!kept || form.dataset.fresh) return;
    for (const [name, value] of JSON.parse(kept)) {
      for (const f of fields(form).filter((each) => each.name === name)) {
        if (f.type === "checkbox" || f.type === "radio") { if (f.value === value) f.checked = true; } else f.value = value;
      }
    }
  }
  const forget = (id) => store("sessionStorage")?.removeItem(`draft:${id}`);
  function handBack(id, text) { // the question is gone and this was never sent
    forget(id);
    if (!text || document.getElementById(`unsent-${id}`)) return; // the server has said it already
    const words = document.createElement("pre");
    words.textContent = text;
    toast("That question is closed. What you typed was not sent; here it is:", { into: "#unsent", more: words });
  }
  document.addEventListener("input", (event) => { const form = event.target.form; if (form?.dataset.draft) keep(form); });
  document.addEventListener("change", (event) => { const form = event.target.form; if (form?.dataset.draft) keep(form); });

  /* ---- morphing: what the person has in hand stays as it is ---- */
  if (window.Idiomorph) Object.assign(Idiomorph.defaults.callbacks, {
    beforeNodeMorphed(old, next) {
      if (old.nodeType !== 1 || !old.hasAttribute("data-keep")) return true;
      return next.hasAttribute?.("data-fresh") || false; // fields are only redrawn with what was wrong with them
    },
    beforeAttributeUpdated(name, node) {
      if (name === "open" && (node.tagName === "DETAILS" || node.tagName === "DIALOG")) return false;
      return !(name === "data-restored" || (name === "hidden" && node.dataset.copy !== undefined));
    },
    beforeNodeRemoved(node) {
      if (node.nodeType !== 1) return true;
      for (const form of node.matches("form[data-draft]") ? [node] : all("form[data-draft]", node)) {
        const id = form.dataset.draft;
        if (form.contains(document.activeElement)) muted = Date.now() + 2000;
        if (!sending.has(id)) handBack(id, typed(form));
      }
      return true;
    },
    afterNodeMorphed(old) { if (old.nodeType === 1 && old.matches("time[data-time]")) tell(old); },
  });

  /* <ol data-upsert="append|prepend|update">: entries that are there are brought up to date in place, new ones join. So the
     same news may come twice, by socket and by poll, and changes nothing the second time. */
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const { target, fragment } = event.detail;
    if (!target?.dataset?.upsert || !window.Idiomorph) return;
    const came = fragment.firstElementChild?.id === target.id ? fragment.firstElementChild : fragment; // htmx gives the list or what is in it
    const fresh_ = [];
    for (const entry of [...came.children]) {
      const there = entry.id && document.getElementById(entry.id);
      if (there && entry.dataset.gone !== undefined) there.remove();
      else if (there) Idiomorph.morph(there, entry, { morphStyle: "outerHTML" });
      else if (entry.dataset.gone === undefined && target.dataset.upsert !== "update") fresh_.push(entry);
    }
    if (target.dataset.upsert === "prepend") target.prepend(...fresh_); else target.append(...fresh_);
    fresh_.forEach((entry) => htmx.process(entry));
    event.detail.shouldSwap = false;
    setUp(target);
  });

  /* ---- live ---- */
  const socket = $("#live");
  let live = false, lastPoll = 0, banner = 0;
  function isLive(yes) {
    live = yes;
    const mark = $("#live-mark");
    if (yes) { clearTimeout(banner); banner = 0; root.dataset.live = "live"; if (mark) mark.textContent = "Live"; return; }
    banner ||= setTimeout(() => { root.dataset.live = "poll"; if (mark) mark.textContent = "Not live"; }, 4000); // a short gap is no news
  }
  if (socket && window.htmx) {
    htmx.createWebSocket = (url) => { // connecting and reconnecting are the same: go on after what the page shows
      const cursor = $("#cursor");
      return new WebSocket(cursor ? `${url}?after=${encodeURIComponent(cursor.value)}` : url);
    };
    isLive(false);
    document.addEventListener("htmx:wsOpen", () => isLive(true));
    document.addEventListener("htmx:wsClose", (event) => {
      isLive(false);
      const { event: closed, socketWrapper } = event.detail;
      if (![1006, 1011, 1012, 1013].includes(closed.code) && closed.code < 4400) setTimeout(() => socketWrapper?.reconnect(), 5000);
    });
    document.addEventListener("htmx:wsAfterMessage", () => setUp());
  }
  document.addEventListener("htmx:configRequest", (event) => { // a button of its own sends without a submit
    const value = token();
    if (event.detail.verb === "post" && value) event.detail.parameters.csrfmiddlewaretoken = value;
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.id === "poll") { // while live, only a look every 30 s that nothing was missed
      if (live && now() - lastPoll < 30000) { event.preventDefault(); return; }
      lastPoll = now();
      return;
    }
    const form = event.target.closest?.("form[data-draft]");
    if (form) sending.set(form.dataset.draft, typed(form));
  });

  /* ---- answers of the server ---- */
  const signedOut = (xhr) => { try { return new URL(xhr.responseURL).pathname === document.body.dataset.login; } catch { return false; } };
  const whole = (xhr) => /^\s*<!doctype/i.test(xhr.responseText); // a page, not fragments
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.isError && whole(event.detail.xhr)) { event.detail.shouldSwap = false; return; }
    if (!signedOut(event.detail.xhr)) return;
    event.detail.shouldSwap = false;
    $("#poll")?.remove();
    socket?.remove();
    toast("You are signed out. What you typed is kept in this tab.", { stop: true, link: { href: `${document.body.dataset.login}?next=${encodeURIComponent(location.pathname + location.search)}`, text: "Sign in again" } });
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const { xhr, successful, requestConfig } = event.detail;
    const elt = requestConfig.elt; // its form may be gone from the page by now
    const date = Date.parse(xhr.getResponseHeader?.("Date") || "");
    if (date && Math.abs(date - Date.now()) > 2000) skew = date - Date.now();
    if (successful && elt.dataset.once !== undefined) { elt.reset(); elt.closest("details").open = false; }
    const form = elt.closest("form[data-draft]"), id = form?.dataset.draft;
    if (!id || !sending.has(id)) return;
    const text = sending.get(id);
    sending.delete(id);
    if (successful && !signedOut(xhr)) forget(id);
    else if (!form.isConnected) handBack(id, text);
  });
  document.addEventListener("htmx:responseError", (event) => {
    const { xhr, elt } = event.detail;
    if (elt.id === "poll" && xhr.status < 500) { socket?.remove(); toast("You may no longer see this page.", { stop: true, link: { href: location.href, text: "Reload" } }); elt.remove(); return; }
    if (elt.id === "poll" || (xhr.responseText.includes("hx-swap-oob") && !whole(xhr))) return; // it says itself what is wrong
    toast(xhr.status === 403 ? "The server refused this. Reload the page and try once more; what you typed is kept." : `The server answered ${xhr.status}. Look at the page again before you repeat it.`, { stop: true, link: { href: location.href, text: "Reload" } });
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) document.addEventListener(name, (event) => {
    if (event.detail.elt.id !== "poll") toast("Layby can't be reached. What you typed is still here; try again in a moment.", { stop: true });
  });
  document.addEventListener("htmx:afterSettle", () => setUp());

  /* ---- small things ---- */
  function copy(button) {
    const text = button.dataset.copyText ?? $(button.dataset.copy)?.textContent ?? "";
    const done = () => { const label = $("span", button); if (!label) return; const was = label.textContent; label.textContent = "Copied"; say("Copied"); setTimeout(() => { label.textContent = was; }, 1600); };
    if (navigator.clipboard) { navigator.clipboard.writeText(text).then(done); return; }
    const area = document.createElement("textarea"); // plain http on another host has no clipboard
    area.className = "sr"; area.value = text; document.body.append(area); area.select();
    try { if (document.execCommand("copy")) done(); } finally { area.remove(); button.focus(); }
  }
  const help = $("#shortcuts");
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.copy !== undefined) copy(button);
    else if (button?.dataset.dismiss !== undefined) button.closest(".toast").remove();
    else if (button?.dataset.help !== undefined) help.showModal();
    for (const menu of all("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });

  /* Tabs of one long form: links to its sections. Without this script all sections are shown one below the other. */
  function showTab() {
    const bar = $("[data-tabs]");
    if (!bar) return;
    const links = all("a", bar);
    const wrong = links.find((a) => $(".error, .errors", $(a.hash)));
    const want = links.find((a) => a.hash === location.hash) || (!bar.dataset.shown && wrong) || links[0];
    const top = () => scrollTo(0, 0); // the link's own jump, made when the page has loaded, would hide the tabs
    if (!bar.dataset.shown) { requestAnimationFrame(top); addEventListener("load", () => setTimeout(top)); }
    bar.dataset.shown = "1";
    for (const a of links) {
      $(a.hash).hidden = a !== want;
      if (a === want) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current");
      a.classList.toggle("bad", Boolean($(".error, .errors", $(a.hash))));
    }
    bar.scrollLeft = want.offsetLeft - bar.offsetLeft - 24; // on a phone not all of them fit
  }
  document.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-tabs] a");
    if (tab) { event.preventDefault(); history.replaceState(null, "", tab.hash); showTab(); }
  });
  window.addEventListener("hashchange", () => { showTab(); if ($("[data-tabs]")) scrollTo(0, 0); });
  document.addEventListener("invalid", (event) => { const part = event.target.closest("section[id][hidden]"); if (part) { location.hash = part.id; showTab(); } }, true);

  document.addEventListener("change", (event) => { // a whole toolset begins with all its tools
    const part = event.target.name === "toolset" && event.target.closest("[data-toolset]");
    if (part && event.target.checked) for (const tool of all("[name=tool]", part)) tool.checked = true;
  });

  /* The count in the tab's title follows the rail. */
  const title = document.title.replace(/^\(\d+\) /, "");
  const count = () => { const n = $("#needs")?.textContent.trim(); document.title = n ? `(${n}) ${title}` : title; };

  function setUp(scope = document) {
    fresh(scope);
    all("form[data-draft]", scope).forEach(restore);
    all("button[data-copy], button[data-dismiss], button[data-help]", scope).forEach((button) => { button.hidden = false; });
    count();
  }

  /* ---- keyboard ---- */
  const keys = $("#single-keys");
  const box = store("localStorage");
  if (keys) {
    keys.checked = box?.getItem("single-keys") !== "off";
    keys.addEventListener("change", () => box?.setItem("single-keys", keys.checked ? "on" : "off"));
  }
  let going = 0; // when g was pressed
  function move(step) {
    const rows = all("a.row");
    const at = rows.indexOf(document.activeElement);
    rows[Math.min(rows.length - 1, Math.max(0, at + step))]?.focus();
  }
  document.addEventListener("keydown", (event) => {
    const form = event.target.form ?? event.target.closest?.("form");
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey) && form?.method === "post") {
      event.preventDefault();
      const button = $("button", event.target.closest(".confirm") || document.createElement("i")) || $("button.primary:not([type=button])", form);
      if (button && !button.disabled) form.requestSubmit(button);
      return;
    }
    if (event.key === "Escape") { const menu = $("details.menu[open]"); if (menu) { menu.open = false; $("summary", menu).focus(); } return; }
    if (event.metaKey || event.ctrlKey || event.altKey || keys?.checked === false || help?.open) return;
    if (event.target.matches?.("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio])")) return;
    if (Date.now() < muted) { muted = Math.max(muted, Date.now() + 1000); return; }
    if (going && Date.now() - going < 1500) { going = 0; const link = $(`.rail [data-go="${CSS.escape(event.key)}"]`); if (link) { event.preventDefault(); link.click(); } return; }
    const deeds = {
      g: () => { going = Date.now(); },
      "?": () => help?.showModal(),
      "/": () => $("input[type=search]")?.focus(),
      j: () => move(1), k: () => move(-1),
      n: () => $("[data-new]")?.click(),
      a: () => { const card = $("form.ask"); card?.scrollIntoView({ block: "nearest" }); fields(card || document.createElement("form"))[0]?.focus(); },
    };
    if (Object.hasOwn(deeds, event.key)) { event.preventDefault(); deeds[event.key](); }
  });

  setUp();
  showTab();
})();
