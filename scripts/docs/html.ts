import { escapeHtml } from '../../src/base/escape-html.ts'

/** Backticks become code; everything else is text. */
export const inline = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

/** The text without the backticks. */
export const plain = (text: string): string => text.replaceAll('`', '')

/** The link to a heading. The script copies its address on a click. */
export const anchorLink = (id: string, title: string): string =>
  `<a class="anchor" href="#${escapeHtml(id)}" aria-label="Link to ${escapeHtml(plain(title))}">#</a>`
