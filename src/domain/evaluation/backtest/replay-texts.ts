import { hash } from 'node:crypto'
import { keptTexts, type ContentTexts } from '../../audit/event/content.ts'
import type { LoggedEvent } from '../../audit/log.ts'
import type { TextDirection } from '../../scan/classify/classifier.ts'

/** The stored texts of an event; undefined if there is none. */
export function replayTextsOf({ content }: LoggedEvent): (ContentTexts & { readonly isRedacted: boolean }) | undefined {
  const texts = keptTexts(content)
  if (!texts?.prompt && !texts?.response && !texts?.withheld) return undefined
  return { ...texts, isRedacted: content?.full === undefined }
}

type ReplayedText = { readonly direction: TextDirection; readonly text: string }

/** The request and the response, unless they are empty. What was withheld of a response is part of it. */
export const replayedTexts = ({ prompt = '', response = '', withheld = '' }: ContentTexts): readonly ReplayedText[] =>
  [
    { direction: 'request' as const, text: prompt },
    { direction: 'response' as const, text: response + withheld },
  ].filter(({ text }) => text !== '')

/** A number from 0 to 100 derived from the event id, so that every backtest samples the same events. */
export const samplePositionOf = (eventId: string): number =>
  (Number.parseInt(hash('sha256', eventId, 'hex').slice(0, 8), 16) / 0x1_0000_0000) * 100
