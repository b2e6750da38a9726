/**
 * Every word of the console, one file for each page, so that a second language is a second folder. A namespace instead of an
 * object, so that the words of a page are loaded with the page.
 */
export * as words from './en/all.ts'
