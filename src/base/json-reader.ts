/** An incremental JSON parser: reads one value from text in chunks, so that no call blocks longer than its chunk needs. */
export type JsonReader = {
  /** Throws a SyntaxError if the text is not JSON, and a RangeError if it is nested too deeply or has too many values. */
  push(text: string): void
  /** Returns the value. Throws a SyntaxError if the text ended inside it. */
  end(): unknown
}

const maxDepth = 200
/** A longer number or literal is not valid. */
const maxTokenLength = 1_000

type Container = { readonly value: unknown[] | Record<string, unknown>; key: string }

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing'

type State = {
  readonly open: Container[]
  expected: Expected
  /** The first part of a string that continues in the next chunk. */
  string: string | undefined
  /** The end of a chunk that can be read only together with the next chunk. */
  carried: string
  valuesLeft: number
  root: unknown
}

export function createJsonReader(maxValues: number): JsonReader {
  const state: State = {
    open: [],
    expected: 'value',
    string: undefined,
    carried: '',
    valuesLeft: maxValues,
    root: null,
  }
  return {
    push(text) {
      const chunk = state.carried + text
      state.carried = ''
      for (let at = 0; at < chunk.length;) at = readNext(state, chunk, at)
    },
    end() {
      // A number at the end of the text has no delimiter after it.
      for (let at = 0; at < state.carried.length;) at = readNext(state, `${state.carried} `, at)
      if (state.expected !== 'nothing') throw unexpected()
      return state.root
    },
  }
}

/** Reads one token, and returns where the next one starts. */
function readNext(state: State, text: string, at: number): number {
  if (state.string !== undefined) return readString(state, text, at)
  const code = text.charCodeAt(at)
  switch (code) {
    case codes.space:
    case codes.lineFeed:
    case codes.carriageReturn:
    case codes.tab:
      break
    case codes.quote:
      if (!wantsKey(state) && !wantsValue(state)) throw unexpected()
      state.string = ''
      break
    case codes.openBrace:
      begin(state, {})
      break
    case codes.openBracket:
      begin(state, [])
      break
    case codes.closeBrace:
    case codes.closeBracket:
      end(state, code === codes.closeBracket)
      break
    case codes.comma:
      if (state.expected !== 'comma-or-end') throw unexpected()
      state.expected = Array.isArray(state.open.at(-1)?.value) ? 'value' : 'key'
      break
    case codes.colon:
      if (state.expected !== 'colon') throw unexpected()
      state.expected = 'value'
      break
    default:
      return readWord(state, text, at)
  }
  return at + 1
}

const codes = {
  tab: 9,
  lineFeed: 10,
  carriageReturn: 13,
  space: 32,
  quote: 34,
  comma: 44,
  colon: 58,
  openBracket: 91,
  backslash: 92,
  closeBracket: 93,
  openBrace: 123,
  closeBrace: 125,
} as const

const delimiters = new Set<number>(Object.values(codes))

const wantsKey = ({ expected }: State): boolean => expected === 'key' || expected === 'key-or-end'
const wantsValue = ({ expected }: State): boolean => expected === 'value' || expected === 'value-or-end'

function begin(state: State, value: Container['value']): void {
  if (state.open.length >= maxDepth) throw new RangeError(`The JSON is nested more than ${maxDepth} levels deep.`)
  add(state, value)
  state.open.push({ value, key: '' })
  state.expected = Array.isArray(value) ? 'value-or-end' : 'key-or-end'
}

function end(state: State, isList: boolean): void {
  const { expected } = state
  const isAtEnd = expected === 'comma-or-end' || expected === (isList ? 'value-or-end' : 'key-or-end')
  const ended = state.open.pop()
  if (!isAtEnd || ended === undefined || Array.isArray(ended.value) !== isList) throw unexpected()
  state.expected = state.open.length === 0 ? 'nothing' : 'comma-or-end'
}

/** Reads to the end of the string or of the chunk. `JSON.parse` decodes the part between, including escapes. */
function readString(state: State, text: string, from: number): number {
  let quote = text.indexOf('"', from)
  while (quote > from && isEscaped(text, quote, from)) quote = text.indexOf('"', quote + 1)
  const to = quote === -1 ? lastWholeCharacter(text, from) : quote
  const read = (state.string ?? '') + unescape(text.slice(from, to))
  if (quote === -1) {
    state.string = read
    state.carried = text.slice(to)
    return text.length
  }
  state.string = undefined
  if (wantsKey(state)) {
    const container = state.open.at(-1)
    if (container !== undefined) container.key = read
    state.expected = 'colon'
  } else {
    add(state, read)
  }
  return quote + 1
}

function isEscaped(text: string, at: number, from: number): boolean {
  let first = at
  while (first > from && text.charCodeAt(first - 1) === codes.backslash) first -= 1
  return (at - first) % 2 === 1
}

/** The start of an escape that the chunk cuts, or the end of the chunk. */
function lastWholeCharacter(text: string, from: number): number {
  const at = text.lastIndexOf('\\')
  if (at < from || at < text.length - 6 || isEscaped(text, at, from)) return text.length
  const length = text.charAt(at + 1) === 'u' ? 6 : 2
  return at + length > text.length ? at : text.length
}

const unescape = (text: string): string => (text === '' ? '' : (JSON.parse(`"${text}"`) as string))

/** A number, `true`, `false` or `null`. */
function readWord(state: State, text: string, from: number): number {
  let to = from
  while (to < text.length && !delimiters.has(text.charCodeAt(to))) to += 1
  if (to - from > maxTokenLength || to === from) throw unexpected()
  if (to === text.length) state.carried = text.slice(from)
  else add(state, JSON.parse(text.slice(from, to)))
  return to
}

function add(state: State, value: unknown): void {
  if (!wantsValue(state)) throw unexpected()
  if (--state.valuesLeft < 0) throw new RangeError('The JSON has too many values.')
  const container = state.open.at(-1)
  state.expected = container === undefined ? 'nothing' : 'comma-or-end'
  if (container === undefined) state.root = value
  else if (Array.isArray(container.value)) container.value.push(value)
  else if (container.key !== '__proto__') container.value[container.key] = value
  else
    Object.defineProperty(container.value, '__proto__', { value, enumerable: true, configurable: true, writable: true })
}

const unexpected = (): SyntaxError => new SyntaxError('The text is not JSON.')
