import { render } from "preact";
import { App } from "./app";
import { apply_theme, chosen_theme } from "./theme";
import "./style/tokens.css";
import "./style/base.css";
import "./style/layout.css";
import "./style/table.css";
import "./style/parts.css";
import "./style/pages.css";

apply_theme(chosen_theme());
render(<App />, document.getElementById("app")!);
