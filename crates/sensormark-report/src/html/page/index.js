"use strict";
// Two chosen runs make the command that compares them, the earlier one first. The rows stand newest first.
const boxes = [...document.querySelectorAll(".choice input")], place = document.querySelector(".tools"), words = place.querySelector("code");
let chosen = [];

function folder(box) {
  const path = decodeURIComponent(location.protocol === "file:" ? new URL(box.value, location).pathname : box.value);
  return /^[\w./,:=@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function choose({ target }) {
  chosen = [...chosen, target].filter((box) => box.checked);
  if (chosen.length > 2) chosen.shift().checked = false;
  place.hidden = chosen.length < 2;
  if (!place.hidden) words.textContent = ["sensormark compare", ...boxes.filter((box) => box.checked).reverse().map(folder)].join(" ");
}

function copy() {
  getSelection().selectAllChildren(words);
  navigator.clipboard?.writeText(words.textContent);
}

boxes.forEach((box) => box.addEventListener("change", choose));
place.querySelector("button").addEventListener("click", copy);
document.documentElement.classList.add("choosing");
