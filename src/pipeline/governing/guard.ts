import type { Clock } from '../../base/clock.ts'
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
import { silence, withSilences } from './silence.ts'

export type GuardParts = {
  readonly plan: Plan
  readonly holding: Holding
  readonly examine: Examine
  readonly glance: Examine
  readonly readAlong?: ReadAlong
  readonly clock: Clock
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

type Channel = { readonly part: BlockStart; readonly follower: Follower; mark: number }

/**
 * Lets an answer out no faster than it was found fit to leave. What is denied never leaves: the upstream is stopped, what
 * was held is dropped, and the answer ends as one that was filtered.
 */
export async function* guarded(metered: Metered, parts: GuardParts): AsyncGenerator<Piece, void> {
  const { clock } = parts
  const held = createHeldPieces()
  const channels = new Map<number, Channel>()
  const outcomes: Outcome[] = []
  let pieces = 0
  /** Up to this one, all that stands in the pieces was told in events, and looked at. */
  let told = 0

  let lookedMs = clock.monotonicMs()

  for await (const piece of withSilences(metered.pieces, () => !held.isEmpty(), clock)) {
    if (piece !== silence && !(await isFit(piece))) return yield await filtered()
    await lookAhead(piece === silence)
    const leaving = held.release(piece === silence ? 'all' : 'steady')
    if (leaving !== undefined) yield concluded(leaving)
  }

  async function filtered(): Promise<Piece> {
    await parts.stop()
    const { usage, receipt } = await metered.cut()
    const end: InferenceEnd = { type: 'end', stopReason: 'filtered', usage, ...(receipt && { receipt }) }
    return concluded({ events: [...held.abandon(), end] })
  }

  /** A slow upstream is not made slower: what is fit to leave does not wait for the next check. */
  async function lookAhead(isSilent: boolean): Promise<void> {
    const nowMs = clock.monotonicMs()
    if (!isSilent && nowMs - lookedMs < lookEveryMs) return
    lookedMs = nowMs
    for (const { follower } of channels.values()) await follower.lookAhead(isSilent ? 0 : keptBackCharacters)
  }

  /** Takes a piece in, looks at all that it adds, and says whether the answer may go on. */
  async function isFit(piece: Piece): Promise<boolean> {
    const marks = new Map<Channel, number>()
    const place = ++pieces
    held.hold(piece, () => place <= told && [...marks].every(([{ follower }, mark]) => follower.cleared() >= mark))
    for (const event of joined(piece.events)) {
      if (!(await isEventFit(event))) return false
      const channel = 'block' in event ? channels.get(event.block) : undefined
      if (channel !== undefined) marks.set(channel, channel.mark)
    }
    if (piece.isAhead !== true) told = place
    return true
  }

  async function isEventFit(event: InferenceEvent): Promise<boolean> {
    if (event.type === 'open') {
      const channel = openChannel(event.part, parts)
      channels.set(event.block, channel)
      return event.part.type !== 'opaque' || isTextFit(channel, stringsIn(event.part.raw).join('\n'))
    }
    const channel = 'block' in event ? channels.get(event.block) : undefined
    if (channel === undefined) return true
    if (event.type === 'delta') {
      channel.mark += event.text.length
      return isTextFit(channel, event.text)
    }
    return event.type !== 'close' || isWholeFit(channel, event.block)
  }

  async function isTextFit({ follower }: Channel, text: string): Promise<boolean> {
    const denied = await follower.push(text)
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
  const all: InferenceEvent[] = []
  for (const event of events) {
    const last = all.at(-1)
    const goesOn = event.type === 'delta' && last?.type === 'delta' && last.block === event.block
    if (goesOn) all[all.length - 1] = { ...last, text: last.text + event.text }
    else all.push(event)
  }
  return all
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
