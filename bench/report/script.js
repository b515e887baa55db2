
// A button copies the text that its data-copy names; where the browser does not let it, the text is shown and selected.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const text = document.getElementById(button.dataset.copy);
  const status = button.parentNode.querySelector("[role=status]");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.value);
      status.textContent = text.getAttribute("aria-label") + " copied";
    } catch {
      text.hidden = false;
      text.focus();
      text.select();
      status.textContent = "Selected below: copy it with Ctrl+C or ⌘C";
    }
  });
}
