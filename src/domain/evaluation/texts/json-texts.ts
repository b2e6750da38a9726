import { changeText } from './attachments.ts'

/**
 * Changes every string value in a JSON text, such as the arguments of a tool call, and keeps all other characters, because
 * re-serialising would lose the precision of large numbers. Changes the whole text if it is not JSON.
 */
export function mapJson(json: string, change: (text: string) => string): string {
  if (!isJson(json)) return change(json)
  let changed = ''
  let end = 0
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', end)) {
    changed += json.slice(end, start)
    end = endOfString(json, start)
    const literal = json.slice(start, end)
    changed += isFieldName(json, end) ? literal : changeLiteral(literal, change)
  }
  return changed + json.slice(end)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The position after the closing quote of the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let at = start; ;) {
    at = json.indexOf('"', at + 1)
    let slashes = 0
    while (json[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return at + 1
  }
}

/** True if the string is a field name: a colon follows it. */
function isFieldName(json: string, end: number): boolean {
  let at = end
  while (json.charCodeAt(at) <= space) at++
  return json[at] === ':'
}

const space = 0x20

function changeLiteral(literal: string, change: (text: string) => string): string {
  const text = literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1)
  const changed = changeText(text, change)
  return changed === text ? literal : JSON.stringify(changed)
}
