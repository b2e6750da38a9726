import { changeText } from './attachments.ts'

/**
 * JSON that travels as a text, such as the arguments of a tool, with every text in it changed and all else as it was spelled:
 * read and written anew, a number of many digits would be another. Changed as a text where it is no JSON.
 */
export function mapJson(json: string, change: (text: string) => string): string {
  if (!isJson(json)) return change(json)
  let written = ''
  let end = 0
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', end)) {
    written += json.slice(end, start)
    end = endOfText(json, start)
    const spelled = json.slice(start, end)
    written += isName(json, end) ? spelled : changedText(spelled, change)
  }
  return written + json.slice(end)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Behind the quote that ends the text which begins at `start`. */
function endOfText(json: string, start: number): number {
  for (let at = start; ;) {
    at = json.indexOf('"', at + 1)
    let slashes = 0
    while (json[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return at + 1
  }
}

/** Whether a colon follows, behind white space or not. */
function isName(json: string, end: number): boolean {
  let at = end
  while (json.charCodeAt(at) <= space) at++
  return json[at] === ':'
}

const space = 0x20

function changedText(spelled: string, change: (text: string) => string): string {
  const text = spelled.includes('\\') ? String(JSON.parse(spelled)) : spelled.slice(1, -1)
  const changed = changeText(text, change)
  return changed === text ? spelled : JSON.stringify(changed)
}
