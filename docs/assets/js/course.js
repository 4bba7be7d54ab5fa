// What the theme's own scripts leave to be done for people who read with a keyboard or a screen reader.
"use strict";

// The theme adds one <nav> of buttons to each code block, after the page has loaded, without a name.
const nameCodeButtons = () => {
  document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav) => {
    const names = document.querySelectorAll(".md-code__nav[aria-label]").length;
    nav.setAttribute("aria-label", `Code ${names + 1}`);
  });
};

// What scrolls sideways must be reachable without a mouse.
const focusScrollers = () => {
  document.querySelectorAll(".md-typeset__scrollwrap, div.math").forEach((box) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
};

new MutationObserver(nameCodeButtons).observe(document.querySelector("article"), { childList: true, subtree: true });
nameCodeButtons();
addEventListener("load", focusScrollers);
addEventListener("resize", focusScrollers);
addEventListener("toggle", focusScrollers, true);
