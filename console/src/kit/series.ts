import type { Tone } from './badge.tsx'

/** Colours without a meaning, for series that are projects or models. `rest`: all others. */
export const seriesTones = ['series1', 'series2', 'series3', 'series4', 'series5'] as const
export type SeriesTone = (typeof seriesTones)[number] | 'rest'

/** A part of each bar of a chart. */
export type Series<Of extends Tone | SeriesTone = Tone> = {
  readonly id: string
  readonly name: string
  readonly tone: Of
}
