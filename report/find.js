for (const table of document.querySelectorAll("table[data-find]")) {
  const rows = [...table.tBodies].flatMap((b) => [...b.rows]);
  const box = document.createElement("p"), label = document.createElement("label"), input = document.createElement("input"), count = document.createElement("span");
  box.className = "find";
  input.type = "search";
  input.spellcheck = false;
  count.setAttribute("role", "status");
  label.append("find ", input);
  box.append(label, count);
  (table.closest(".wide") || table).before(box);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((w) => text.includes(w));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? shown + " of " + rows.length + " rows" : "";
  });
}
