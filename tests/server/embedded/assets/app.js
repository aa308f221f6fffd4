document.title = "Embedded and run";
