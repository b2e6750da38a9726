import type { OutOfBandText, InferenceEvent } from '../../../domain/inference/events.ts'
import type { JsonRecord } from '../json-values.ts'
import { isFiller, isLabel, isLabelling, isName } from './labels.ts'
import { hasMoreNames, nameCount, stringValuesIn } from './names.ts'
import { tokensBeside } from './tokens.ts'

/**
 * What a place in a vendor's format holds. A string in any other place, and one that is not what its place says, is an
 * aside: it reaches a caller of the upstream's dialect although no event tells of it, so it is screened by itself.
 *
 * - `told`: a text that an event tells of; compared, so what differs from the events is an aside
 * - `later`: a block that an event tells of as a whole once it has ended
 * - `piece`: a text that comes in pieces and that no event tells of
 * - `label`: an id, or one of the words of a format
 * - `stop`: a stop string of the request
 * - `echo`: what the request said
 * - `filler`: random characters that hide the length of a text
 * - `tokens`: a text once more, token by token
 */
export type FieldShape =
  | 'told'
  | 'later'
  | 'piece'
  | 'label'
  | 'stop'
  | 'echo'
  | 'filler'
  | 'tokens'
  | ReadonlyMap<string, FieldShape>
  | { readonly each: FieldShape }
  | ((value: JsonRecord) => FieldShape | undefined)

export const fields = (shapes: Readonly<Record<string, FieldShape>>): ReadonlyMap<string, FieldShape> =>
  new Map(Object.entries(shapes))

/** The shape of a list. */
export const each = (shape: FieldShape): FieldShape => ({ each: shape })

/** The shape of a whole answer, and of every event of a stream. */
export type AnswerShape = { readonly document: FieldShape; readonly event: FieldShape }

export type OutOfBandParts = {
  /** What the upstream was sent. */
  readonly sent: JsonRecord
  readonly stops: readonly string[]
  /** Whether events have told of this as a whole: a text, or a block that only its dialect understands. */
  readonly isTold: (value: unknown) => boolean
}

export type OutOfBandReader = {
  /** What a body says beside the events that were made of it. `data` is the frame that it was parsed from. */
  read(
    body: JsonRecord,
    shape: FieldShape,
    from: { readonly events: readonly InferenceEvent[]; readonly data?: string },
  ): readonly OutOfBandText[]
}

export function createOutOfBandReader({ sent, stops, isTold }: OutOfBandParts): OutOfBandReader {
  /** What was last said in each place. Most fields of a stream say the same in every frame. */
  const last = new Map<string, string>()
  /** The same for labels, by the name of their field. */
  const labels = new Map<string, string>()
  const path: string[] = []
  let sentStrings: ReadonlySet<string> | undefined
  let events: readonly InferenceEvent[] = []
  let found: OutOfBandText[] | undefined
  let names = 0 // of all visited objects

  function walk(value: unknown, shape: FieldShape | undefined, name: string): void {
    if (typeof value === 'string') {
      if (value !== '' && !isExpected(value, shape, name)) add(value, name, shape === 'piece' || undefined)
    } else if (typeof value === 'object' && value !== null) {
      path.push(name)
      walkInto(value, shape, name)
      path.pop()
    }
  }

  function walkInto(value: object, shape: FieldShape | undefined, name: string): void {
    if (isToldObject(value, shape)) names += nameCount(value)
    else if (Array.isArray(value)) walkList(value, shape, name)
    else walkFields(value as JsonRecord, typeof shape === 'function' ? shape(value as JsonRecord) : shape)
  }

  function walkList(list: readonly unknown[], shape: FieldShape | undefined, name: string): void {
    if (shape === 'tokens') {
      names += nameCount(list)
      for (const { text, rank } of tokensBeside(list, isToldNow)) add(text, rank, true)
      return
    }
    const inner = typeof shape === 'object' && 'each' in shape ? shape.each : shape === 'echo' ? shape : undefined
    for (const one of list) {
      if (typeof one === 'string') {
        if (one !== '' && !isExpected(one, inner, name)) add(one, '')
      } else if (typeof one === 'object' && one !== null) walkInto(one, inner, name)
    }
  }

  function walkFields(value: JsonRecord, shape: FieldShape | undefined): void {
    if (shape === 'later') {
      names += nameCount(value)
      return
    }
    const shapes = shape instanceof Map ? shape : undefined
    const inherited = shape === 'echo' ? shape : undefined
    for (const name in value) {
      names += 1
      const inner = shapes === undefined ? inherited : shapes.get(name)
      if (inner === undefined && !isName(name)) add(name, `${name} as a name`, false)
      walk(value[name], inner, name)
    }
  }

  function isExpected(text: string, shape: FieldShape | undefined, name: string): boolean {
    switch (shape) {
      case 'told':
        return isToldNow(text) || isTold(text)
      case 'label':
        return isKnownLabel(text, name)
      case 'stop':
        return stops.includes(text)
      case 'echo':
        return isLabel(text) || (sentStrings ??= stringsOf(sent)).has(text)
      case 'filler':
        return isFiller(text)
      default:
        return isLabelling(name) && isKnownLabel(text, name)
    }
  }

  function isKnownLabel(text: string, name: string): boolean {
    if (labels.get(name) === text) return true
    if (!isLabel(text)) return false
    labels.set(name, text)
    return true
  }

  const isToldNow = (text: string): boolean =>
    isTextOf(events, text) || (events.length > 0 && isTextOf(events, escaped(text)))

  function isToldObject(value: object, shape: FieldShape | undefined): boolean {
    if (shape === 'later' || (shape === 'told' && isToldNow(JSON.stringify(value)))) return true
    for (const event of events)
      if (event.type === 'open' && event.part.type === 'opaque' && event.part.raw === value) return true
    return shape !== undefined && 'type' in value && isTold(value)
  }

  /** All formats call a text that arrives in chunks a delta. */
  const isDelta = (name: string): boolean => name === 'delta' || (name !== '' && path.at(-1) === 'delta')

  function add(text: string, name: string, isPiece = isDelta(name)): void {
    const place = [...path.slice(1), name].filter((one) => one !== '').join('.')
    // A short string that comes again may be the next letter of a word.
    if (text.length > longestLetters && last.get(place) === text) return
    last.set(place, text)
    ;(found ??= []).push(isPiece ? { place, text, isPiece } : { place, text })
  }

  return {
    read(body, shape, { events: told, data }) {
      events = told
      found = undefined
      names = 0
      walk(body, shape, '')
      if (data !== undefined && hasMoreNames(data, names))
        for (const text of stringValuesIn(data)) add(text, 'repeated')
      return found ?? none
    },
  }
}

const none: readonly never[] = []
const longestLetters = 2

function isTextOf(events: readonly InferenceEvent[], text: string): boolean {
  for (const event of events) {
    if (event.type === 'delta' && event.text === text) return true
    if (event.type === 'open' && event.part.type === 'tool-call' && event.part.name === text) return true
  }
  return false
}

/** The text of a tool that takes free text is told as a string inside of JSON. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

function stringsOf(value: unknown, strings = new Set<string>()): Set<string> {
  if (typeof value === 'string') strings.add(value)
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) stringsOf(one, strings)
  return strings
}
