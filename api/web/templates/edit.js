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
