import type { OutOfBandText, InferenceEvent } from '../../../domain/inference/events.ts'
import type { JsonRecord } from '../json-values.ts'
import { isPadding, isLabel, isLabelField, isFieldName } from './labels.ts'
import { countKeys, hasDuplicateKeys, stringValuesIn } from './duplicate-keys.ts'
import { outOfBandTokens } from './tokens.ts'

/**
 * What a field of a vendor's response holds. A string in an unlisted field, or one that does not match its shape, is
 * out-of-band text: a passthrough caller receives it although no event contains it, so it is scanned separately.
 *
 * - `content`: text that an event contains. It is compared with the events; text that differs is out of band
 * - `deferred`: a block that becomes one event when it is complete
 * - `delta`: a part of a longer text that no event contains
 * - `label`: an id or a keyword of the format
 * - `stop`: a stop string of the request
 * - `request-echo`: a value repeated from the request
 * - `padding`: random characters that hide the length of a text
 * - `tokens`: the text again, token by token (`logprobs`)
 */
export type FieldShape =
  | 'content'
  | 'deferred'
  | 'delta'
  | 'label'
  | 'stop'
  | 'request-echo'
  | 'padding'
  | 'tokens'
  | ReadonlyMap<string, FieldShape>
  | { readonly each: FieldShape }
  | ((value: JsonRecord) => FieldShape | undefined)

export const fields = (shapes: Readonly<Record<string, FieldShape>>): ReadonlyMap<string, FieldShape> =>
  new Map(Object.entries(shapes))

/** The shape of a list, given the shape of its items. */
export const each = (shape: FieldShape): FieldShape => ({ each: shape })

/** The shape of a whole response, and of every event of a stream. */
export type AnswerShape = { readonly document: FieldShape; readonly event: FieldShape }

export type OutOfBandParts = {
  /** The body that was sent to the upstream. */
  readonly requestBody: JsonRecord
  readonly stops: readonly string[]
  /** True if earlier events already contain this value: a whole text, or an opaque block. */
  readonly isEmitted?: ((value: unknown) => boolean) | undefined
}

export type OutOfBandReader = {
  /** Returns the out-of-band text of a body, given the events decoded from it. `data` is the JSON text of its frame. */
  read(
    body: JsonRecord,
    shape: FieldShape,
    from: { readonly events: readonly InferenceEvent[]; readonly data?: string },
  ): readonly OutOfBandText[]
}

export const createOutOfBandReader = (parts: OutOfBandParts): OutOfBandReader => new FieldWalk(parts)

/** A class, because an object with its own closures would cost every response a kilobyte. */
class FieldWalk implements OutOfBandReader {
  readonly parts: OutOfBandParts
  /** The last text of each field. Most fields of a stream have the same value in every frame. */
  lastTexts: Map<string, string> | undefined = undefined
  /** The last label of each field name. */
  readonly lastLabels = new Map<string, string>()
  readonly path: string[] = []
  requestStrings: ReadonlySet<string> | undefined = undefined
  events: readonly InferenceEvent[] = none
  outOfBand: OutOfBandText[] | undefined = undefined
  keyCount = 0 // of all visited objects

  constructor(parts: OutOfBandParts) {
    this.parts = parts
  }

  read(
    body: JsonRecord,
    shape: FieldShape,
    { events, data }: { readonly events: readonly InferenceEvent[]; readonly data?: string },
  ): readonly OutOfBandText[] {
    this.events = events
    this.outOfBand = undefined
    this.keyCount = 0
    this.walk(body, shape, '')
    if (data !== undefined && hasDuplicateKeys(data, this.keyCount))
      for (const text of stringValuesIn(data)) this.add(text, 'repeated')
    return this.outOfBand ?? none
  }

  walk(value: unknown, shape: FieldShape | undefined, name: string): void {
    if (typeof value === 'string') {
      if (value !== '' && !this.isExpected(value, shape, name)) this.add(value, name, shape === 'delta' || undefined)
    } else if (typeof value === 'object' && value !== null) {
      this.path.push(name)
      this.walkInto(value, shape, name)
      this.path.pop()
    }
  }

  walkInto(value: object, shape: FieldShape | undefined, name: string): void {
    if (this.isObjectInEvents(value, shape)) this.keyCount += countKeys(value)
    else if (Array.isArray(value)) this.walkList(value, shape, name)
    else this.walkFields(value as JsonRecord, typeof shape === 'function' ? shape(value as JsonRecord) : shape)
  }

  walkList(list: readonly unknown[], shape: FieldShape | undefined, name: string): void {
    if (shape === 'tokens') {
      this.keyCount += countKeys(list)
      for (const { text, rank } of outOfBandTokens(list, (token) => this.isInEvents(token))) this.add(text, rank, true)
      return
    }
    const inner =
      typeof shape === 'object' && 'each' in shape ? shape.each : shape === 'request-echo' ? shape : undefined
    for (const one of list) {
      if (typeof one === 'string') {
        if (one !== '' && !this.isExpected(one, inner, name)) this.add(one, '')
      } else if (typeof one === 'object' && one !== null) this.walkInto(one, inner, name)
    }
  }

  walkFields(value: JsonRecord, shape: FieldShape | undefined): void {
    if (shape === 'deferred') {
      this.keyCount += countKeys(value)
      return
    }
    const shapes = shape instanceof Map ? shape : undefined
    const inherited = shape === 'request-echo' ? shape : undefined
    for (const name in value) {
      this.keyCount += 1
      const inner = shapes === undefined ? inherited : shapes.get(name)
      if (inner === undefined && !isFieldName(name)) this.add(name, `${name} as a key`, false)
      this.walk(value[name], inner, name)
    }
  }

  isExpected(text: string, shape: FieldShape | undefined, name: string): boolean {
    switch (shape) {
      case 'content':
        return this.isInEvents(text) || this.isEmitted(text)
      case 'label':
        return this.isKnownLabel(text, name)
      case 'stop':
        return this.parts.stops.includes(text)
      case 'request-echo':
        return isLabel(text) || (this.requestStrings ??= stringsOf(this.parts.requestBody)).has(text)
      case 'padding':
        return isPadding(text)
      default:
        return isLabelField(name) && this.isKnownLabel(text, name)
    }
  }

  isKnownLabel(text: string, name: string): boolean {
    if (this.lastLabels.get(name) === text) return true
    if (!isLabel(text)) return false
    this.lastLabels.set(name, text)
    return true
  }

  isInEvents(text: string): boolean {
    return isTextOf(this.events, text) || (this.events.length > 0 && isTextOf(this.events, escaped(text)))
  }

  isEmitted(value: unknown): boolean {
    return this.parts.isEmitted?.(value) === true
  }

  isObjectInEvents(value: object, shape: FieldShape | undefined): boolean {
    if (shape === 'deferred' || (shape === 'content' && this.isInEvents(JSON.stringify(value)))) return true
    for (const event of this.events)
      if (event.type === 'open' && event.part.type === 'opaque' && event.part.raw === value) return true
    return shape !== undefined && 'type' in value && this.isEmitted(value)
  }

  /** Every vendor format calls a part of a streamed text `delta`. */
  isDeltaField(name: string): boolean {
    return name === 'delta' || (name !== '' && this.path.at(-1) === 'delta')
  }

  add(text: string, name: string, isDelta = this.isDeltaField(name)): void {
    const field = [...this.path.slice(1), name].filter((one) => one !== '').join('.')
    // A repeated short string is kept, because it may be the next letter of a word.
    if (text.length > maxLettersLength && this.lastTexts?.get(field) === text) return
    this.lastTexts ??= new Map()
    this.lastTexts.set(field, text)
    this.outOfBand ??= []
    this.outOfBand.push(isDelta ? { field, text, isDelta } : { field, text })
  }
}

const none: readonly never[] = []
const maxLettersLength = 2

function isTextOf(events: readonly InferenceEvent[], text: string): boolean {
  for (const event of events) {
    if (event.type === 'delta' && event.text === text) return true
    if (event.type === 'open' && event.part.type === 'tool-call' && event.part.name === text) return true
  }
  return false
}

/** The input of a free-text tool is a JSON string inside the events. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

function stringsOf(value: unknown, strings = new Set<string>()): Set<string> {
  if (typeof value === 'string') strings.add(value)
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) stringsOf(one, strings)
  return strings
}
