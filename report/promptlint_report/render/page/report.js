"use strict";
document.querySelectorAll("table").forEach((table) => {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "descending" || (!head.hasAttribute("aria-sort") && !head.classList.contains("number"));
      const rows = [...body.rows].map((row) => [row.cells[column].dataset.sort, row]);
      const numeric = head.classList.contains("number");
      rows.sort(([a], [b]) => {
        if (a === "" || b === "") return (a === "") - (b === "");
        const order = numeric ? Number(a) - Number(b) : a.localeCompare(b);
        return down ? order : -order;
      });
      rows.forEach(([, row]) => body.append(row));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "ascending" : "descending");
      document.getElementById("sorted").textContent =
        `${table.caption.textContent}: sorted by ${button.textContent.trim()}, ${down ? "ascending" : "descending"}`;
    });
  });
});
