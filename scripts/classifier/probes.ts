/**
 * Probes: texts written for this project to measure the classifier, and never to train it. They were written without a look at the
 * word lists and at the authored examples. A file in `probes/` is a list of groups.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { alwaysBlockedCategories, type Category } from '../../src/domain/scan/classify/categories.ts'
import { textDirections, type Classification } from '../../src/domain/scan/classify/classifier.ts'
import { disguises } from './evasion.ts'
import type { Judge } from './stages.ts'

/** A group is right about a text if the category is flagged (`flags`), or if nothing of `passes` is flagged, in both directions. */
export type ProbeGroup = {
  readonly name: string
  readonly flags?: Category
  readonly passes?: 'any' | Category
  readonly texts: readonly string[]
}

/** Groups may be written as sentences with a slot for a person, as ten texts at a time of another group, or as each of its texts inside another. */
type WrittenGroup = Omit<ProbeGroup, 'texts'> & {
  readonly texts?: readonly string[]
  readonly frames?: readonly string[]
  readonly persons?: readonly string[]
  readonly joined?: string
  /** A text with a slot `{text}` for one of the texts of the group `of`. */
  readonly inside?: string
  readonly of?: string
}

export type ProbeFigures = {
  readonly texts: number
  readonly right: number
  /** Texts with a flag of a category that is always blocked. */
  readonly always: number
  readonly expects: string
}

const folder = new URL('./probes/', import.meta.url)
const floorsFile = new URL('./probe-floors.json', import.meta.url)

export function readProbes(): readonly ProbeGroup[] {
  const written = readdirSync(folder)
    .sort()
    .flatMap((file): readonly WrittenGroup[] => JSON.parse(readFileSync(new URL(file, folder), 'utf8')))
  const groups = written.map((group) => ({ ...group, texts: textsOf(group, written) }))
  const english = groups.find(({ name }) => name === 'self-harm, English')
  return [...groups, ...(english === undefined ? [] : disguised(english))]
}

const disguised = ({ texts, ...group }: ProbeGroup): readonly ProbeGroup[] =>
  disguises
    .filter(({ name }) => name !== 'none')
    .map(({ name, apply }) => ({ ...group, name: `${group.name}, ${name}`, texts: texts.map(apply) }))

function textsOf(
  { texts, frames, persons, joined, inside, of }: WrittenGroup,
  all: readonly WrittenGroup[],
): readonly string[] {
  if (texts !== undefined) return texts
  if (joined !== undefined) return tenAtATime(all.find(({ name }) => name === joined)?.texts ?? [])
  if (inside !== undefined) {
    const group = all.find(({ name }) => name === of)
    return group === undefined ? [] : textsOf(group, all).map((text) => inside.replace('{text}', text))
  }
  return (frames ?? []).flatMap((frame) => (persons ?? []).map((person) => frame.replace('{person}', person)))
}

const tenAtATime = (texts: readonly string[]): readonly string[] =>
  Array.from({ length: Math.floor(texts.length / 10) }, (_, at) => texts.slice(at * 10, at * 10 + 10).join('\n\n'))

export async function runProbes(judge: Judge): Promise<Readonly<Record<string, ProbeFigures>>> {
  const figures: Record<string, ProbeFigures> = {}
  for (const group of readProbes()) {
    let right = 0
    let always = 0
    for (const text of group.texts) {
      const both: Classification[] = []
      for (const direction of textDirections) both.push(await judge(text, direction))
      if (both.every((each) => isRight(group, each))) right += 1
      if (both.some(isAlwaysBlocked)) always += 1
    }
    figures[group.name] = { texts: group.texts.length, right, always, expects: expectationOf(group) }
  }
  return figures
}

function isRight({ flags, passes }: ProbeGroup, { flagged }: Classification): boolean {
  if (flags !== undefined) return flagged.includes(flags)
  return passes === undefined || passes === 'any' ? flagged.length === 0 : !flagged.includes(passes)
}

const isAlwaysBlocked = ({ flagged }: Classification): boolean =>
  alwaysBlockedCategories.some((category) => flagged.includes(category))

const expectationOf = ({ flags, passes }: ProbeGroup): string =>
  flags !== undefined ? flags : passes === 'any' ? 'nothing' : `not ${passes}`

/** How many texts of each group the linear stage must be right about. `raiseFloors` never lowers one. */
export const readFloors = (): Readonly<Record<string, number>> => JSON.parse(readFileSync(floorsFile, 'utf8'))

export function raiseFloors(figures: Readonly<Record<string, ProbeFigures>>): void {
  const floors = readFloors()
  const raised = Object.entries(figures).map(([name, { right }]) => [name, Math.max(right, floors[name] ?? 0)])
  writeFileSync(floorsFile, `${JSON.stringify(Object.fromEntries(raised), null, 2)}\n`)
}
