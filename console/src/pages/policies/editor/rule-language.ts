import { StreamLanguage, type StringStream } from '@codemirror/language'
import { functions, methods, variables } from './vocabulary.ts'

type State = { isExpression: boolean }

const keywords = new Set(['true', 'false', 'null', 'in'])
const names = new Set<string>(variables.map(({ label }) => label))
const calls = new Set<string>([...functions, ...methods].map(({ label }) => label))

/** Colours of a rule: of CEL after `cel:`, otherwise of the quoted phrases in plain language. */
export const ruleLanguage = StreamLanguage.define<State>({
  startState: () => ({ isExpression: false }),
  token(stream, state) {
    if (stream.pos === 0 && stream.match('cel:')) {
      state.isExpression = true
      return 'comment'
    }
    return state.isExpression ? expressionToken(stream) : plainToken(stream)
  },
  languageData: { closeBrackets: { brackets: ['(', '[', '"', "'"] } },
})

function expressionToken(stream: StringStream): string | null {
  if (stream.eatSpace()) return null
  if (stream.match('//')) {
    stream.skipToEnd()
    return 'comment'
  }
  if (stream.match(/^[rR]?"(?:[^"\\]|\\.)*"?/) || stream.match(/^[rR]?'(?:[^'\\]|\\.)*'?/)) return 'string'
  if (stream.match(/^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?u?/)) return 'number'
  const word = stream.match(/^[A-Za-z_]\w*/)
  if (word) return tokenOfWord(stream.current())
  if (stream.match(/^(?:&&|\|\||[=!<>]=|[-+*/%<>!?:])/)) return 'operator'
  stream.next()
  return 'punctuation'
}

function tokenOfWord(word: string): string | null {
  if (keywords.has(word) || calls.has(word)) return 'keyword'
  return names.has(word) ? 'variableName' : null
}

function plainToken(stream: StringStream): string | null {
  if (stream.match(/^"[^"]*"?/) || stream.match(/^“[^”]*”?/) || stream.match(/^„[^“”]*[“”]?/)) return 'string'
  stream.next()
  stream.eatWhile(/[^"“„]/)
  return null
}
