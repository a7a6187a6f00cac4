import "@countersign/example-chat-agent/chat.css";
import { mount } from "svelte";
import Page from "./Page.svelte";

const target = document.querySelector("#page");
if (target !== null) mount(Page, { target });
