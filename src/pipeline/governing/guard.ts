import type { Clock } from '../../base/clock.ts'
import { andThen, inTurn, isPending, type Eventually } from '../../base/eventually.ts'
import { flowing, later } from '../../base/flow.ts'
import type { Examination, Examine } from '../../domain/governance/examine.ts'
import { createFollower, type Follower } from '../../domain/governance/follow.ts'
import type { Holding } from '../../domain/governance/holding.ts'
import { isDenied, refusalOf, type Outcome } from '../../domain/governance/outcome.ts'
import type { Plan } from '../../domain/governance/plan.ts'
import { isRephrasing } from '../../domain/governance/rephrase.ts'
import { textOfJson } from '../../domain/governance/request-texts.ts'
import { stringsIn } from '../../domain/governance/strings.ts'
import type { BlockStart, InferenceEnd, InferenceEvent, Piece } from '../../domain/inference/events.ts'
import type { ReadAlong } from '../../domain/moderation/read-along.ts'
import { createHeldPieces } from './held-pieces.ts'
import type { Metered } from '../paying/meter.ts'
import { createListener, silence, type Silences } from './silence.ts'

export type GuardParts = {
  readonly plan: Plan
  readonly holding: Holding
  readonly examine: Examine
  readonly glance: Examine
  readonly readAlong: ReadAlong
  readonly clock: Clock
  readonly silences: Silences
  readonly pause: () => Promise<unknown>
  /** Writes a text anew as the verdict wants it; undefined where that cannot be done. */
  readonly rephrased: (examination: Examination) => Promise<string | undefined>
  /** Stops the upstream. */
  readonly stop: () => Promise<void>
  /** Told once what the checks said about the answer; what it answers is shown to the caller. */
  readonly conclude: (outcomes: readonly Outcome[], end: InferenceEnd) => InferenceEnd['policy']
}

/** Readers see no gaps shorter than this. */
const lookEveryMs = 150
/** What is held back all the same while more is coming: a text often turns within a few words. */
const keptBackCharacters = 32

type Taken = Piece | typeof later | undefined

type Channel = { readonly part: BlockStart; readonly follower: Follower; mark: number }

/** So much of a channel must be cleared before a piece may leave. */
type Mark = Pick<Channel, 'follower' | 'mark'>
/** A piece, and what must have happened before it may leave. */
type Ticketed = { piece: Piece; readonly place: number; readonly marks: readonly (Mark | undefined)[] }

/**
 * Lets an answer out no faster than it was found fit to leave. What is denied never leaves: the upstream is stopped, what
 * was held is dropped, and the answer ends as one that was filtered.
 */
export function guarded(metered: Pick<Metered, 'pieces' | 'used'>, parts: GuardParts): AsyncIterable<Piece> {
  const { clock } = parts
  const listener = createListener(metered.pieces, parts.silences)
  const held = createHeldPieces(isFree)
  const channels = new Map<number, Channel>()
  const outcomes: Outcome[] = []
  let pieces = 0
  /** Up to this one, all that stands in the pieces was told in events, and looked at. */
  let told = 0
  let lookedMs = clock.monotonicMs()
  let isOver = false
  return flowing({ take, whenMore: (wake) => listener.whenMore(wake, !held.isEmpty()) })

  function take(): Eventually<Taken> {
    return isOver ? undefined : andThen(listener.take(), hear)
  }

  function hear(heard: Taken | typeof silence): Eventually<Taken> {
    if (heard === later || heard === undefined) return heard
    if (heard === silence) return andThen(lookAhead(0), () => letOut('all'))
    return andThen(isPieceFit(heard), goOn)
  }

  function goOn(isFit: boolean): Eventually<Taken> {
    if (!isFit) return filtered()
    // A slow upstream is not made slower: what is fit to leave does not wait for the next check.
    const isLookDue = clock.monotonicMs() - lookedMs >= lookEveryMs
    return isLookDue ? andThen(lookAhead(keptBackCharacters), () => letOut('steady')) : letOut('steady')
  }

  function letOut(pace: 'all' | 'steady'): Eventually<Taken> {
    const leaving = held.release(pace)
    return leaving === undefined ? take() : concluded(leaving)
  }

  async function filtered(): Promise<Piece> {
    isOver = true
    await parts.stop()
    const end: InferenceEnd = { type: 'end', stopReason: 'filtered', usage: metered.used() }
    return concluded({ events: [...held.abandon(), end] })
  }

  function lookAhead(keptBack: number): Eventually<void> {
    lookedMs = clock.monotonicMs()
    return inTurn([...channels.values()], ({ follower }) => follower.lookAhead(keptBack))
  }

  /** Takes a piece in, looks at all that it adds, and says whether the answer may go on. */
  function isPieceFit(piece: Piece): Eventually<boolean> {
    const place = ++pieces
    if (piece.isAhead !== true) told = place
    const events = joined(piece.events)
    held.hold({ piece, place, marks: events.map(markOf) })
    return areFit(events, 0)
  }

  function markOf(event: InferenceEvent): Mark | undefined {
    if (event.type === 'open') channels.set(event.block, openChannel(event.part, parts))
    const channel = channelOf(event)
    if (channel === undefined) return undefined
    if (event.type === 'delta') channel.mark += event.text.length
    return { follower: channel.follower, mark: channel.mark }
  }

  function channelOf(event: InferenceEvent): Channel | undefined {
    return event.type === 'start' || event.type === 'end' ? undefined : channels.get(event.block)
  }

  function isFree({ place, marks }: Ticketed): boolean {
    if (place > told) return false
    for (const mark of marks) if (mark !== undefined && mark.follower.cleared() < mark.mark) return false
    return true
  }

  function areFit(events: readonly InferenceEvent[], from: number): Eventually<boolean> {
    for (let at = from; at < events.length; at++) {
      const event = events[at]
      const isFit = event === undefined || isEventFit(event, events[at + 1])
      if (isPending(isFit)) return isFit.then((fit) => fit && areFit(events, at + 1))
      if (!isFit) return false
    }
    return true
  }

  function isEventFit(event: InferenceEvent, next: InferenceEvent | undefined): Eventually<boolean> {
    const channel = channelOf(event)
    if (channel === undefined) return true
    if (event.type === 'close') return isWholeFit(channel, event.block)
    const text = textIn(event)
    if (text === undefined) return true
    channel.follower.push(text)
    // Where its end has come too, one judgement is enough.
    const isComplete = next?.type === 'close' && channelOf(next) === channel
    return isComplete || andThen(channel.follower.check(), isAllowed)
  }

  function isAllowed(denied: Examination | undefined): boolean {
    if (denied !== undefined) outcomes.push(...denied.verdict.outcomes)
    return denied === undefined
  }

  async function isWholeFit({ part, follower }: Channel, block: number): Promise<boolean> {
    const examination = await follower.end()
    const { verdict } = examination
    outcomes.push(...verdict.outcomes)
    if (!isRephrasing(verdict.effectiveDecision)) return !isDenied(verdict)
    const isProse = part.type !== 'tool-call' && part.type !== 'opaque'
    const text = isProse ? await parts.rephrased(examination) : undefined
    if (text === undefined) outcomes.push(...refusalOf(verdict))
    else held.replaceText(block, text)
    return text !== undefined
  }

  function concluded(piece: Piece): Piece {
    const last = piece.events.at(-1)
    if (last?.type !== 'end') return piece
    const policy = parts.conclude(outcomes, last)
    return policy === undefined ? piece : { ...piece, events: [...piece.events.slice(0, -1), { ...last, policy }] }
  }
}

/** Deltas of a block that stand side by side as one: what arrived together is looked at together. */
function joined(events: readonly InferenceEvent[]): readonly InferenceEvent[] {
  if (events.length < 2) return events
  const all: InferenceEvent[] = []
  for (const event of events) {
    const last = all.at(-1)
    const goesOn = event.type === 'delta' && last?.type === 'delta' && last.block === event.block
    if (goesOn) all[all.length - 1] = { ...last, text: last.text + event.text }
    else all.push(event)
  }
  return all
}

/** What an event adds to the text of its block; undefined where it adds nothing. */
function textIn(event: InferenceEvent): string | undefined {
  if (event.type === 'delta') return event.text
  return event.type === 'open' && event.part.type === 'opaque' ? stringsIn(event.part.raw).join('\n') : undefined
}

/** Prose leaves as it is cleared. A tool is called as a whole or not at all, and its words are those inside its JSON. */
function openChannel(part: BlockStart, parts: GuardParts): Channel {
  const { holding } = parts
  const isWhole = holding.isWhole || part.type === 'tool-call' || part.type === 'opaque'
  const read = part.type === 'tool-call' ? (json: string) => `${part.name}\n${textOfJson(json)}` : undefined
  const follower = createFollower({ ...parts, holding: { ...holding, isWhole }, ...(read && { read }) })
  // What waits for its whole text waits with its first event too.
  return { part, follower, mark: isWhole ? 1 : 0 }
}
