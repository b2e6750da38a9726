import type { EncoderQuestion } from '../../../domain/scan/classify/encoder.ts'

export type WaitingText = { readonly text: string; readonly question: EncoderQuestion }

/** The texts that wait for the encoder: urgent ones first, and among equals the organizations in turn. */
export type WaitingTexts<T extends WaitingText> = {
  /** False if too much text waits. */
  add(waiting: T): boolean
  /** False if it does not wait. */
  remove(waiting: T): boolean
  /** Removes the next one and returns it. */
  take(): T | undefined
  /** Removes all. */
  clear(): readonly T[]
  size(): number
}

/** `maxCharacters` may wait, and as many again of urgent texts. */
export function createWaitingTexts<T extends WaitingText>(maxCharacters: number): WaitingTexts<T> {
  const levels = { urgent: createTurns<T>(maxCharacters), other: createTurns<T>(maxCharacters) }
  const levelOf = ({ question }: T): Turns<T> => (question.isUrgent ? levels.urgent : levels.other)
  return {
    add: (waiting) => levelOf(waiting).add(waiting),
    remove: (waiting) => levelOf(waiting).remove(waiting),
    take: () => levels.urgent.take() ?? levels.other.take(),
    clear: () => [...levels.urgent.clear(), ...levels.other.clear()],
    size: () => levels.urgent.size() + levels.other.size(),
  }
}

type Turns<T extends WaitingText> = WaitingTexts<T>

function createTurns<T extends WaitingText>(maxCharacters: number): Turns<T> {
  /** In the order of their turns. */
  const organizations = new Map<string, Set<T>>()
  let characters = 0

  function remove(waiting: T): boolean {
    const { organizationId } = waiting.question
    const own = organizations.get(organizationId)
    if (own === undefined || !own.delete(waiting)) return false
    if (own.size === 0) organizations.delete(organizationId)
    characters -= waiting.text.length
    return true
  }

  return {
    add(waiting) {
      const { organizationId } = waiting.question
      const own = organizations.get(organizationId) ?? new Set()
      // The first text of an organization has a place, although others filled the queue.
      const most = own.size === 0 ? 2 * maxCharacters : maxCharacters
      if (characters + waiting.text.length > most) return false
      organizations.set(organizationId, own.add(waiting))
      characters += waiting.text.length
      return true
    },
    remove,
    take() {
      const [first] = organizations
      if (first === undefined) return undefined
      const [organizationId, own] = first
      const [waiting] = own
      if (waiting === undefined) return undefined
      remove(waiting)
      if (own.size > 0) {
        organizations.delete(organizationId)
        organizations.set(organizationId, own)
      }
      return waiting
    },
    clear() {
      const all = [...organizations.values()].flatMap((own) => [...own])
      organizations.clear()
      characters = 0
      return all
    },
    size: () => organizations.values().reduce((sum, own) => sum + own.size, 0),
  }
}
