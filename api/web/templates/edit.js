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

	const { fuzzy, seen } = form.elements;
	const texts = [...form.querySelectorAll("textarea")];
	const mine = key(form.dataset.string);
	const content = () => JSON.stringify({ texts: texts.map(t => t.value), fuzzy: fuzzy.checked, seen: seen.value });
	const fill = draft => {
		texts.forEach((t, i) => { t.value = draft.texts[i]; });
		fuzzy.checked = draft.fuzzy;
		seen.value = draft.seen; // a text of somebody else since then is a conflict
	};
	const stored = content();
	const keep = () => drafts.write(mine, content() !== stored || "sent" in form.dataset ? content() : "");
	const draft = drafts.read(mine);
	if ("sent" in form.dataset) {
		keep();
	} else if (draft && draft.texts.length === texts.length && JSON.stringify(draft) !== stored) {
		const note = document.getElementById("draft");
		fill(draft);
		note.hidden = false;
		note.querySelector("button").addEventListener("click", () => {
			fill(JSON.parse(stored));
			drafts.write(mine);
			note.hidden = true;
			texts[0].focus();
		});
	}
	form.addEventListener("input", keep);

	// Buttons insert at the cursor what the source has, and characters that keyboards lack.
	let last = texts[0];
	form.addEventListener("focusin", e => { if (texts.includes(e.target)) last = e.target; });
	const insert = text => {
		last.focus();
		if (!document.execCommand("insertText", false, text)) last.setRangeText(text, last.selectionStart, last.selectionEnd, "end"); // the first one can be undone
		keep();
	};
	const quotes = { cs: "„“‚‘", de: "„“‚‘", sk: "„“‚‘", sl: "„“", bg: "„“", hu: "„”", pl: "„”", ro: "„”", hr: "„”", fr: "«»", es: "«»", it: "«»", pt: "«»", el: "«»", ru: "«»", uk: "«»", ar: "«»", fa: "«»", sv: "””", fi: "””", ja: "「」『』", zh: "“”‘’《》" };
	const source = document.getElementById("source").parentElement.querySelectorAll(".big");
	const holders = [...source].flatMap(s => s.textContent.match(/%(\d+\$|\([^()\s]+\))?[-+ #0']*\d*(\.\d+)?(hh|h|ll|l|j|z|t|L)?[A-Za-z@]|\$?\{[^{}\s]*\}|<\/?[A-Za-z][^<>]*>|&#?\w+;/g) ?? []);
	const bar = document.getElementById("insert");
	for (const text of new Set([...holders.slice(0, 20), ...(quotes[texts[0].lang.split("-")[0]] ?? "“”‘’"), "…", "–", "\u00a0"])) {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = text === "\u00a0" ? "nbsp" : text;
		button.dir = "ltr";
		button.addEventListener("click", () => insert(text));
		bar.append(button);
	}
	bar.hidden = false;

	document.getElementById("keys").hidden = false;
	document.addEventListener("keydown", e => {
		if (e.isComposing) return;
		// A key is meant by its letter, wherever the layout has it; one of a script without
		// Latin letters by its place, as browsers do.
		const letter = e.key.length === 1 && e.key > "\u024f" ? e.code.replace(/^Key/, "") : e.key;
		const pressed = (e.ctrlKey || e.metaKey ? "Ctrl+" : "") + (e.altKey ? "Alt+" : "") + (e.shiftKey ? "Shift+" : "") + (letter.length === 1 ? letter.toUpperCase() : letter);
		const found = [...document.querySelectorAll("[data-key]")].find(x => x.dataset.key === pressed);
		if (!found) return;
		e.preventDefault();
		if (found.type === "textarea") found.focus();
		else found.click();
		keep();
	});
})();
