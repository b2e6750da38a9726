/**
 * Examples written for this project, as small grammars in `authored/*.txt`:
 *
 *   [slot animal]           the values of {animal}, one per line; they may contain slots
 *   [rows benign 40]        templates, each expanded up to forty times; `benign` is 0 in every category
 *   [rows self-harm 25]     1 in that category, unknown in the others
 *
 * `prompt_injection` is a label of the encoder alone.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isCategory } from '../../src/domain/scan/classify/categories.ts'
import { promptInjection, type Row } from './rows.ts'
import { createSeeded } from './seeded.ts'

export type AuthoredRow = Row & { readonly file: string; readonly template: number; readonly isBenign: boolean }

type Template = { readonly file: string; readonly label: string; readonly times: number; readonly text: string }
type Grammar = { readonly slots: Map<string, string[]>; readonly templates: Template[] }

const heading = /^\[(?<what>slot|rows) (?<name>\S+)(?: (?<times>\d+))?\]$/
const benignLabels = {
  sexual: 0,
  hate: 0,
  harassment: 0,
  'self-harm': 0,
  illicit: 0,
  'sexual/minors': 0,
  [promptInjection]: 0,
}

export function writeAuthored(folder: string, seed: number): readonly AuthoredRow[] {
  const grammar: Grammar = { slots: new Map(), templates: [] }
  for (const file of readdirSync(folder).sort()) readGrammar(file, readFileSync(join(folder, file), 'utf8'), grammar)
  const chance = createSeeded(seed)
  return grammar.templates.flatMap((template, number) => {
    const texts = new Set<string>()
    for (let time = 0; time < template.times; time++) texts.add(fill(template.text, grammar, chance))
    const isBenign = template.label === 'benign'
    const labels = isBenign ? benignLabels : labelsOf(template.label)
    const source = `authored/${template.file.replace('.txt', '')}`
    return [...texts].map((text) => ({
      text,
      labels,
      weight: 1,
      source,
      file: template.file,
      template: number,
      isBenign,
    }))
  })
}

/** A text labelled `sexual/minors` is also labelled `sexual`. */
const labelsOf = (label: string): Row['labels'] =>
  label === 'sexual/minors' ? { sexual: 1, 'sexual/minors': 1 } : { [label]: 1 }

function readGrammar(file: string, text: string, grammar: Grammar): void {
  let into: (line: string) => void = () => {
    throw new Error(`${file} does not start with a heading.`)
  }
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const head = heading.exec(line)?.groups
    if (head === undefined) into(line)
    else if (head.what === 'slot') into = slotReader(grammar, head.name ?? '')
    else into = rowReader(grammar, file, { label: head.name ?? '', times: Number(head.times) })
  }
}

function slotReader(grammar: Grammar, name: string): (line: string) => void {
  const values: string[] = []
  grammar.slots.set(name, values)
  return (line) => values.push(line)
}

function rowReader(
  grammar: Grammar,
  file: string,
  { label, times }: { label: string; times: number },
): (line: string) => void {
  const isLabel = label === 'benign' || label === promptInjection || isCategory(label)
  if (!isLabel) throw new Error(`${file}: ${label} is not a category.`)
  return (text) => grammar.templates.push({ file, label, times, text })
}

const deepest = 4

function fill(template: string, { slots }: Grammar, chance: () => number): string {
  let text = template
  for (let depth = 0; depth < deepest; depth++) {
    text = text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const values = slots.get(name)
      return values === undefined ? whole : (values[Math.floor(chance() * values.length)] ?? whole)
    })
  }
  return text
}
