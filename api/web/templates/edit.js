// Keys and unsaved texts of the form that edits a string, which works without it.
"use strict";
(() => {
	const key = string => "repoglot " + location.pathname + " " + string;
	const drafts = {
		read(name) { try { return JSON.parse(localStorage.getItem(name)); } catch { return null; } },
		write(name, text) { try { text ? localStorage.setItem(name, text) : localStorage.removeItem(name); } catch { /* not permitted, or full */ } },
	};
	const saved = new URLSearchParams(location.search).get("saved");
	if (saved) drafts.write(key(saved));
	const form = document.getElementById("edit");
	if (!form) return;

	const { seen } = form.elements, fuzzy = form.elements.fuzzy ?? {}; // only whoever edits has it
	const texts = [...form.querySelectorAll("textarea")];
	const mine = key(form.dataset.string);
	const content = () => JSON.stringify({ texts: texts.map(t => t.value), fuzzy: fuzzy.checked, seen: seen.value });
	const fill = draft => {
		texts.forEach((t, i) => { t.value = draft.texts[i]; });
		fuzzy.checked = draft.fuzzy;
		seen.value = draft.seen; // a text of somebody else since then is a conflict
	};
	const stored = content();
	const source = [...document.getElementById("source").parentElement.querySelectorAll(".big")].map(s => s.textContent);
	const counts = texts.map(t => t.labels[0].appendChild(document.createElement("small")));
	const grows = CSS.supports("field-sizing", "content");
	const show = () => texts.forEach((t, i) => {
		counts[i].textContent = form.dataset.count.replace("{1}", [...t.value].length).replace("{2}", [...source[Math.min(i, source.length - 1)]].length);
		if (grows) return;
		t.style.height = "auto";
		t.style.height = t.scrollHeight + 2 + "px";
	});
	for (const c of counts) c.setAttribute("aria-hidden", "true"); // it is no part of the label
	const keep = () => {
		drafts.write(mine, content() !== stored || "sent" in form.dataset ? content() : "");
		show();
		later();
	};

	// After a pause the server is asked what saving would answer, by one request at a time. It says
	// nothing while a field is empty, and is not asked again if it does not answer, such as without
	// a session. What the page said above of the text that it came with is over then; its place
	// stays, so that nothing moves while one types.
	const verdict = document.getElementById("verdict"), past = document.getElementById("past");
	let asking = false, silent = false, timer = 0, asked = stored, told = "";
	const later = () => { clearTimeout(timer); timer = setTimeout(ask, 700); };
	const ask = async () => {
		const text = content();
		if (asking || silent || text === asked) return;
		asked = text;
		let said = "";
		if (texts.every(t => t.value) && text.length < 20000) {
			asking = true;
			try {
				const body = new URLSearchParams(new FormData(form));
				body.set("do", "look");
				const answer = await fetch(form.action, { method: "POST", body, redirect: "manual", signal: AbortSignal.timeout(10000) });
				if (answer.ok) said = await answer.text();
				else silent = true;
			} catch { silent = true; }
			asking = false;
			if (content() !== asked) return later();
		}
		if (past?.firstChild) {
			past.style.height = past.offsetHeight + "px";
			past.className = "";
			past.replaceChildren();
		}
		if (said === told) return;
		verdict.classList.toggle("wrong", said !== "");
		verdict.innerHTML = told = said;
	};
	const draft = drafts.read(mine);
	if ("sent" in form.dataset) {
		keep();
	} else if (draft && draft.texts.length === texts.length && JSON.stringify(draft) !== stored) {
		const note = document.getElementById("draft");
		fill(draft);
		note.hidden = false;
		note.querySelector("button").addEventListener("click", () => {
			fill(JSON.parse(stored));
			keep();
			note.hidden = true;
			texts[0].focus();
		});
	}
	form.addEventListener("input", keep);
	show();
	later();

	// Buttons insert at the cursor what the source has, and characters that keyboards lack.
	let last = texts[0];
	form.addEventListener("focusin", e => { if (texts.includes(e.target)) last = e.target; });
	form.addEventListener("input", () => { if (texts.length > 1 && last.nextElementSibling !== verdict) last.after(verdict); });
	const insert = text => {
		last.focus();
		if (!document.execCommand("insertText", false, text)) last.setRangeText(text, last.selectionStart, last.selectionEnd, "end"); // the first one can be undone
		keep();
	};
	const quotes = { cs: "„“‚‘", de: "„“‚‘", sk: "„“‚‘", sl: "„“", bg: "„“", hu: "„”", pl: "„”", ro: "„”", hr: "„”", fr: "«»\u202f", es: "«»", it: "«»", pt: "«»", el: "«»", ru: "«»", uk: "«»", ar: "«»\u200e\u200f", fa: "«»\u200c\u200e\u200f", he: "״׳\u200e\u200f", sv: "””", fi: "””", ja: "「」『』", zh: "“”‘’《》" };
	const holders = source.flatMap(s => s.match(/%(\d+\$|\([^()\s]+\))?[-+ #0']*\d*(\.\d+)?(hh|h|ll|l|j|z|t|L)?[A-Za-z@]|\$?\{[^{}\s]*\}|<\/?[A-Za-z][^<>]*>|&#?\w+;/g) ?? []);
	const bar = document.getElementById("insert");
	for (const text of new Set([...holders.slice(0, 20), ...(quotes[texts[0].lang.split("-")[0]] ?? "“”‘’"), "…", "–", "\u00a0"])) {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = { "\u00a0": "nbsp", "\u202f": "nnbsp", "\u200c": "ZWNJ", "\u200e": "LRM", "\u200f": "RLM" }[text] ?? text;
		button.dir = "ltr";
		button.addEventListener("click", () => insert(text));
		bar.append(button);
	}
	bar.hidden = false;

	document.getElementById("keys").hidden = false;
	document.addEventListener("keydown", e => {
		if (e.isComposing || e.altKey && e.code.startsWith("Numpad")) return; // which writes characters by their number on Windows
		// A key is meant by its letter, wherever the layout has it; one of a script without
		// Latin letters by its place, as browsers do, and so is a digit, which some have behind Shift.
		const digit = e.altKey && e.code.match(/^Digit(\d)$/)?.[1];
		const letter = digit || (e.key.length === 1 && e.key > "\u024f" ? e.code.replace(/^Key/, "") : e.key);
		const pressed = (e.ctrlKey || e.metaKey ? "Ctrl+" : "") + (e.altKey ? "Alt+" : "") + (e.shiftKey && !digit ? "Shift+" : "") + (letter.length === 1 ? letter.toUpperCase() : letter);
		const found = [...document.querySelectorAll("[data-key]")].find(x => x.dataset.key === pressed);
		if (!found) return;
		e.preventDefault();
		if (found.type === "textarea") found.focus();
		else found.click();
		keep();
	});
})();
