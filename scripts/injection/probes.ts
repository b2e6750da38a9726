/**
 * Probes: texts to measure the detector, and never to train it. They were written without a look at the authored examples and at the
 * word classes.
 */
import { readFileSync } from 'node:fs'
import { injectionThreshold, type InjectionDetector } from '../../src/domain/scan/injection/injection-detector.ts'

export type InjectionProbes = {
  readonly name: string
  /** Exactly one of both is given: whether the texts are prompt injections. */
  readonly flags?: string
  readonly passes?: string
  readonly texts: readonly string[]
}

export type ProbeCount = { readonly texts: number; readonly right: number }

export function readInjectionProbes(): readonly InjectionProbes[] {
  return JSON.parse(readFileSync(new URL('./probes.json', import.meta.url), 'utf8'))
}

/** How many texts of each group were right when the model was written. */
export const floorsFile = new URL('./probe-floors.json', import.meta.url)

export function readInjectionFloors(): Readonly<Record<string, number>> {
  return JSON.parse(readFileSync(floorsFile, 'utf8'))
}

export async function countRight({ flags, texts }: InjectionProbes, detector: InjectionDetector): Promise<ProbeCount> {
  const scores = await Promise.all(texts.map(async (text) => detector.score(text)))
  const right = scores.filter((score) => score >= injectionThreshold === (flags !== undefined)).length
  return { texts: texts.length, right }
}
