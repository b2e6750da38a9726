/** A text without the characters that command a terminal: names come from people whom its reader need not trust. */
export const printable = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '\ufffd')
