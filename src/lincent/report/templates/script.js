"use strict";
(function () {
  function key(cell) {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    return cell.textContent.trim();
  }
  function compare(a, b) {
    var x = key(a), y = key(b);
    var xn = typeof x === "number", yn = typeof y === "number";
    if (xn && yn) return x - y;
    if (xn !== yn) return xn ? -1 : 1;
    return x.localeCompare(y, undefined, { numeric: true });
  }
  function empty(cell) { return cell.dataset.value === undefined && cell.textContent.trim() === "–"; }
  function sort(table, index, heading) {
    var down = heading.getAttribute("aria-sort") === "ascending" ||
      (!heading.hasAttribute("aria-sort") && heading.classList.contains("number"));
    if (heading.getAttribute("aria-sort") === "descending") down = false;
    table.querySelectorAll("thead th").forEach(function (th) { th.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows);
    rows.sort(function (r, s) {
      var a = r.cells[index], b = s.cells[index];
      if (empty(a) || empty(b)) return empty(a) - empty(b);
      return down ? compare(b, a) : compare(a, b);
    });
    rows.forEach(function (row) { body.appendChild(row); });
  }
  document.querySelectorAll("table[data-sortable]").forEach(function (table) {
    table.querySelectorAll("thead th").forEach(function (heading, index) {
      heading.querySelector("button").addEventListener("click", function () { sort(table, index, heading); });
    });
  });
  var themes = ["system", "light", "dark"];
  var names = { system: "as the system", light: "light", dark: "dark" };
  var button = document.getElementById("theme");
  function apply(theme) {
    if (theme === "system") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", theme);
    button.dataset.theme = theme;
    button.textContent = "Theme: " + names[theme];
  }
  apply("system");
  button.addEventListener("click", function () {
    apply(themes[(themes.indexOf(button.dataset.theme) + 1) % themes.length]);
  });
  document.querySelectorAll("button.copy").forEach(function (copy) {
    copy.addEventListener("click", function () {
      var code = copy.parentElement.querySelector("code");
      var range = document.createRange();
      range.selectNodeContents(code);
      var selection = window.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      function done(ok) { copy.textContent = ok ? "Copied" : "Press Ctrl+C"; }
      if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(function () { done(true); }, function () { done(false); });
      else done(document.execCommand("copy"));
    });
  });
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details.note").forEach(function (d) { d.open = true; });
  });
})();
