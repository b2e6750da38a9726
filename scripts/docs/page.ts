import { escapeHtml } from '../../src/base/escape-html.ts'

export type PageParts = {
  readonly title: string
  readonly contents: string
  readonly body: string
  /** Headings of this page, beside the text on wide screens. */
  readonly outline?: string
  readonly className: 'reference' | 'article'
}

const searchIcon =
  '<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/></svg>'
const menuIcon = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4h12M2 8h12M2 12h12"/></svg>'
const mark =
  '<svg class="mark" viewBox="0 0 16 16" aria-hidden="true"><path d="M2 1h3v2h1.500V1h3v2H11V1h3v14h-3.500v-4a2.500 2.500 0 0 0-5 0v4H2z"/></svg>'

/** An HTML page. The contents are a popover on narrow screens and a sidebar on wide ones, both without the script. */
export function page({ title, contents, body, outline = '', className }: PageParts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Gatehouse</title>
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/assets/style.css">
<script src="/docs/assets/page.js" defer></script>
</head>
<body class="${className}" id="top">
<a class="skip" href="#content">Skip to the text</a>
<header class="bar">
<button class="menu" type="button" popovertarget="contents" aria-label="Contents">${menuIcon}</button>
<a class="brand" href="/docs">${mark}<span>Gatehouse</span></a>
<button class="search-button" type="button" hidden aria-keyshortcuts="/ Control+K">${searchIcon}<span>Search</span><kbd>/</kbd></button>
<a class="bar-link" href="/openapi.json">OpenAPI</a>
</header>
<nav class="contents" id="contents" popover aria-label="Contents">${contents}</nav>
<main id="content" tabindex="-1">${body}</main>
${outline === '' ? '' : `<aside class="outline" aria-label="On this page">${outline}</aside>`}
<dialog class="search" aria-label="Search"><div class="search-box"><label>${searchIcon}<input type="search" placeholder="Search endpoints, fields, error codes and guides" autocomplete="off" spellcheck="false" role="combobox" aria-label="Search" aria-expanded="true" aria-controls="results"></label><ul id="results" role="listbox" aria-label="Results"></ul><p class="search-hint" aria-live="polite"></p><footer><span><kbd>↑</kbd> <kbd>↓</kbd> move</span><span><kbd>Enter</kbd> open</span><span><kbd>Esc</kbd> close</span></footer></div></dialog>
<p class="toast" role="status" hidden></p>
</body>
</html>
`
}
