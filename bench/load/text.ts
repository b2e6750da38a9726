import { createSeeded } from '../../scripts/classifier/seeded.ts'
import { readChatTurns, readProse } from './sentences.ts'

/** Writes ordinary text that it has not written before. Its characters need no escapes in JSON. */
export type TextWriter = (characters: number) => string

let prose: readonly string[] | undefined
let chatTurns: readonly string[] | undefined

/** One sentence in this number is the turn of a chat. */
const chatEvery = 4

/** Joins sentences after a number: a text costs about a microsecond. Equal seeds write equal texts. */
export function createTextWriter(seed: number): TextWriter {
  const sentences = (prose ??= readProse())
  const turns = (chatTurns ??= readChatTurns())
  const chance = createSeeded(seed)
  const oneOf = (texts: readonly string[]): string => texts[Math.floor(chance() * texts.length)] ?? ''
  let written = 0
  let texts = 0
  return (characters) => {
    let text = `Part ${++texts}. `
    while (text.length < characters) text += `${oneOf(++written % chatEvery === 0 ? turns : sentences)} `
    return text.slice(0, characters)
  }
}
