import { createRedactionStream, createRestorationStream } from '../../domain/scan/detect/personal-data/stream.ts'
import { mapJson } from '../../domain/evaluation/texts/json-texts.ts'
import { mapStrings } from '../../domain/evaluation/texts/text-fields.ts'
import { findPersonalData } from '../../domain/scan/detect/personal-data/find.ts'
import type { TextStream } from '../../domain/scan/detect/personal-data/stream.ts'
import { redact, restorePlaceholders } from '../../domain/scan/detect/personal-data/redact.ts'
import type { PlaceholderMap } from '../../domain/scan/detect/personal-data/placeholder-map.ts'
import type { BlockStart, Citation, InferenceEvent, Chunk } from '../../domain/inference/events.ts'
import type { FieldRoles } from '../../domain/inference/field-roles.ts'
import { outOfBandTextsOf } from './out-of-band.ts'

export type RedactionParts = {
  /** Holds the personal data of the request by placeholder. */
  readonly placeholderMap: PlaceholderMap
  /** Whether the caller gets its own data back if the model repeats a placeholder. */
  readonly restoresPersonalData: boolean
  /** The role of each field in the vendor's format of an opaque block. */
  readonly roles: FieldRoles
}

/**
 * Redacts personal data in a response. The chunks lose their raw frames, so the response is encoded by the gateway; only a
 * whole document in which nothing was redacted is passed through.
 */
export async function* redactResponse(
  chunks: AsyncIterable<Chunk>,
  { placeholderMap, restoresPersonalData, roles }: RedactionParts,
): AsyncGenerator<Chunk, void> {
  const ofRequest = placeholderMap.snapshot()
  const restored = restoresPersonalData ? ofRequest : undefined
  // A placeholder in the response means the same as in the request, so it is not escaped as a literal.
  const ofResponse: PlaceholderMap = {
    ...placeholderMap,
    placeholderFor: (kind, value) => (kind === 'literal' ? value : placeholderMap.placeholderFor(kind, value)),
  }
  const streams = new Map<number, TextStream>()
  const streamOf = (block: number): TextStream => {
    const stream = streams.get(block) ?? createTextStream(ofResponse, restored)
    streams.set(block, stream)
    return stream
  }
  const changedBlocks = new Set<number>()
  /** Citations wait for the end of their block, because only then it is known whether its text was changed. */
  const citations = new Map<number, Citation[]>()

  const changedBlock = (part: OpaqueStart): OpaqueStart => {
    const raw = mapStrings(part.raw, createTextChange(ofResponse, restored), roles)
    return JSON.stringify(raw) === JSON.stringify(part.raw) ? part : { ...part, raw }
  }

  /** A range is valid only for the text it was made for. Without one, the citation is for the whole block. */
  const changedCitation = (block: number, { range, ...citation }: Citation): InferenceEvent => {
    const changeText = createTextChange(ofResponse, restored)
    const { title, passage } = citation
    const isRangeKept = range !== undefined && !changedBlocks.has(block)
    return {
      type: 'citation',
      block,
      citation: {
        ...citation,
        title: changeText(title),
        ...(passage !== undefined && { passage: changeText(passage) }),
        ...(isRangeKept && { range }),
      },
    }
  }

  const change = (event: InferenceEvent): readonly InferenceEvent[] => {
    switch (event.type) {
      case 'open':
        if (event.part.type === 'tool-call') streams.set(event.block, createJsonStream(ofResponse, restored))
        return [event.part.type === 'opaque' ? { ...event, part: changedBlock(event.part) } : event]
      case 'delta': {
        const text = streamOf(event.block).push(event.text)
        if (text !== event.text) changedBlocks.add(event.block)
        return text === '' ? [] : [{ ...event, text }]
      }
      case 'citation':
        citations.getOrInsertComputed(event.block, () => []).push(event.citation)
        return []
      // A reasoning signature is valid only for the text it was made for.
      case 'signature':
        return changedBlocks.has(event.block) ? [] : [event]
      case 'close': {
        const { block } = event
        const rest = streamOf(block).end()
        const cited = citations.get(block) ?? none
        if (rest === '' && cited.length === 0) return [event]
        const last: readonly InferenceEvent[] = rest === '' ? none : [{ type: 'delta', block, text: rest }]
        return [...last, ...cited.map((one) => changedCitation(block, one)), event]
      }
      default:
        return [event]
    }
  }

  for await (const chunk of chunks) {
    const events = chunk.events.flatMap(change)
    const isSame =
      chunk.raw?.kind === 'document' &&
      areSame(events, chunk.events) &&
      outOfBandTextsOf(chunk).every(({ text }) => findPersonalData(text).length === 0)
    yield isSame ? chunk : { events }
  }
}

/** First redacts the personal data of the response, then restores the caller's own. */
function createTextStream(
  placeholderMap: PlaceholderMap,
  restored: Pick<PlaceholderMap, 'valueOf'> | undefined,
): TextStream {
  const redaction = createRedactionStream(placeholderMap)
  if (restored === undefined) return redaction
  const restoration = createRestorationStream(restored)
  return {
    push: (text) => restoration.push(redaction.push(text)),
    end: () => restoration.push(redaction.end()) + restoration.end(),
  }
}

/** Tool arguments are JSON and are sent whole. Only their strings are changed; the formatting of the JSON stays. */
function createJsonStream(
  placeholderMap: PlaceholderMap,
  restored: Pick<PlaceholderMap, 'valueOf'> | undefined,
): TextStream {
  let json = ''
  return {
    push(text) {
      json += text
      return ''
    },
    end() {
      return mapJson(json, createTextChange(placeholderMap, restored))
    },
  }
}

const createTextChange =
  (placeholderMap: PlaceholderMap, restored: Pick<PlaceholderMap, 'valueOf'> | undefined) =>
  (text: string): string => {
    const redacted = redact(text, placeholderMap)
    return restored === undefined ? redacted : restorePlaceholders(redacted, restored)
  }

type OpaqueStart = Extract<BlockStart, { type: 'opaque' }>

const areSame = (some: readonly InferenceEvent[], others: readonly InferenceEvent[]): boolean =>
  textOf(some) === textOf(others) &&
  citationsOf(some) === citationsOf(others) &&
  blocksOf(some).every((raw, at) => raw === blocksOf(others)[at])

const textOf = (events: readonly InferenceEvent[]): string =>
  events.map((event) => (event.type === 'delta' ? `${event.block}:${event.text}` : '')).join('\n')

const citationsOf = (events: readonly InferenceEvent[]): string =>
  events
    .map((event) => (event.type === 'citation' ? `${event.citation.title}\n${event.citation.passage}` : ''))
    .join('')

const none: readonly never[] = []

const blocksOf = (events: readonly InferenceEvent[]): readonly unknown[] =>
  events.flatMap((event) => (event.type === 'open' && event.part.type === 'opaque' ? [event.part.raw] : []))
