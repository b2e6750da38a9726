import { createRedactionStream, createRestorationStream } from '../../domain/moderation/personal-data/stream.ts'
import { mapJson } from '../../domain/evaluation/texts/json-texts.ts'
import { mapStrings } from '../../domain/evaluation/texts/text-fields.ts'
import { findPersonalData } from '../../domain/moderation/personal-data/find.ts'
import type { TextStream } from '../../domain/moderation/personal-data/stream.ts'
import { redact, restorePlaceholders } from '../../domain/moderation/personal-data/redact.ts'
import type { PlaceholderMap } from '../../domain/moderation/personal-data/placeholder-map.ts'
import type { BlockStart, InferenceEvent, Chunk } from '../../domain/inference/events.ts'
import type { FieldRoles } from '../../domain/inference/field-roles.ts'
import { outOfBandTextsOf } from './out-of-band.ts'

export type RedactionParts = {
  /** Knows what was taken out of the request. */
  readonly vault: PlaceholderMap
  /** Gives the caller its own data back where the model repeats a placeholder. */
  readonly restores: boolean
  /** What the fields of a raw block hold. */
  readonly roles: FieldRoles
}

/**
 * Takes personal data out of an answer on its way. An answer that is spelled anew is spelled in our words to its end;
 * a whole document in which nothing had to be changed keeps its own.
 */
export async function* redactedAnswer(
  pieces: AsyncIterable<Chunk>,
  { vault, restores, roles }: RedactionParts,
): AsyncGenerator<Chunk, void> {
  const known = vault.snapshot()
  // A placeholder in the answer stands for what it stood for in the request; it is no text to be told apart from one.
  const answered: PlaceholderMap = {
    ...vault,
    placeholderFor: (kind, value) => (kind === 'literal' ? value : vault.placeholderFor(kind, value)),
  }
  const streams = new Map<number, TextStream>()
  const streamOf = (block: number): TextStream => {
    const stream = streams.get(block) ?? createTextStream(answered, restores ? known : undefined)
    streams.set(block, stream)
    return stream
  }
  const changedBlocks = new Set<number>()

  const changedBlock = (part: OpaqueStart): OpaqueStart => {
    const raw = mapStrings(part.raw, createTextChange(answered, restores ? known : undefined), roles)
    return JSON.stringify(raw) === JSON.stringify(part.raw) ? part : { ...part, raw }
  }

  const change = (event: InferenceEvent): readonly InferenceEvent[] => {
    switch (event.type) {
      case 'open':
        if (event.part.type === 'tool-call')
          streams.set(event.block, createJsonStream(answered, restores ? known : undefined))
        return [event.part.type === 'opaque' ? { ...event, part: changedBlock(event.part) } : event]
      case 'delta': {
        const text = streamOf(event.block).push(event.text)
        if (text !== event.text) changedBlocks.add(event.block)
        return text === '' ? [] : [{ ...event, text }]
      }
      // A signature holds for the text it was made for.
      case 'signature':
        return changedBlocks.has(event.block) ? [] : [event]
      case 'close': {
        const rest = streamOf(event.block).end()
        return rest === '' ? [event] : [{ type: 'delta', block: event.block, text: rest }, event]
      }
      default:
        return [event]
    }
  }

  for await (const piece of pieces) {
    const events = piece.events.flatMap(change)
    const isSame =
      piece.raw?.kind === 'document' &&
      areSame(events, piece.events) &&
      outOfBandTextsOf(piece).every(({ text }) => findPersonalData(text).length === 0)
    yield isSame ? piece : { events }
  }
}

/** First the answer's own data goes, then what the caller itself had sent comes back. */
function createTextStream(vault: PlaceholderMap, known: Pick<PlaceholderMap, 'valueOf'> | undefined): TextStream {
  const redaction = createRedactionStream(vault)
  if (known === undefined) return redaction
  const restoration = createRestorationStream(known)
  return {
    push: (text) => restoration.push(redaction.push(text)),
    end: () => restoration.push(redaction.end()) + restoration.end(),
  }
}

/** A tool is told in JSON, and called as a whole: what is changed in it are its texts, not how they are spelled. */
function createJsonStream(vault: PlaceholderMap, known: Pick<PlaceholderMap, 'valueOf'> | undefined): TextStream {
  let json = ''
  return {
    push(piece) {
      json += piece
      return ''
    },
    end() {
      return mapJson(json, createTextChange(vault, known))
    },
  }
}

const createTextChange =
  (vault: PlaceholderMap, known: Pick<PlaceholderMap, 'valueOf'> | undefined) =>
  (text: string): string => {
    const redacted = redact(text, vault)
    return known === undefined ? redacted : restorePlaceholders(redacted, known)
  }

type OpaqueStart = Extract<BlockStart, { type: 'opaque' }>

const areSame = (some: readonly InferenceEvent[], others: readonly InferenceEvent[]): boolean =>
  textOf(some) === textOf(others) && blocksOf(some).every((raw, at) => raw === blocksOf(others)[at])

const textOf = (events: readonly InferenceEvent[]): string =>
  events.map((event) => (event.type === 'delta' ? `${event.block}:${event.text}` : '')).join('\n')

const blocksOf = (events: readonly InferenceEvent[]): readonly unknown[] =>
  events.flatMap((event) => (event.type === 'open' && event.part.type === 'opaque' ? [event.part.raw] : []))
