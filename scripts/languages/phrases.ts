/**
 * Statements of a crisis from patterns with alternatives, `phrases/XX.txt` and the word lists of the classifier: `I (want|wish) [so]
 * to die` stands for four. A few of each line are drawn.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createSeeded } from '../classifier/seeded.ts'

const mostPerLine = 12

export type Phrase = { readonly language: string; readonly text: string; readonly line: number }

export function drawPhrases(folders: readonly string[], seed: number): readonly Phrase[] {
  const chance = createSeeded(seed)
  const files = folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
  let number = 0
  return files.flatMap((file) => {
    const language = basename(file, '.txt')
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('# '))
    return lines.flatMap((line) => {
      number += 1
      const drawn = new Set(Array.from({ length: mostPerLine }, () => draw(line, chance)))
      return [...drawn].map((text) => ({ language, text, line: number }))
    })
  })
}

const group = /\((?<one>[^()[\]]*)\)|\[(?<orNone>[^()[\]]*)\]/

function draw(line: string, chance: () => number): string {
  const found = group.exec(line)
  if (found === null) return line.replace(/\s+/g, ' ').trim()
  const { one, orNone } = found.groups ?? {}
  const choices = one === undefined ? ['', ...(orNone ?? '').split('|')] : one.split('|')
  const choice = choices[Math.floor(chance() * choices.length)] ?? ''
  return draw(line.slice(0, found.index) + choice + line.slice(found.index + found[0].length), chance)
}
