import type { Figure } from './measure.ts'

const barHeight = 16
const labelWidth = 90
const barWidth = 480
const colours: Readonly<Record<string, string>> = {
  bare: '#9aa5b1',
  fastify: '#7b8794',
  gatehouse: '#2f6f4f',
  portkey: '#b4532a',
}

/** One group of bars per case, scaled to the most expensive of the group. */
export function plot(figures: readonly Figure[], unitOf: (caseName: string) => string): string {
  const groups = [...Map.groupBy(figures, (figure) => figure.case)]
  let top = 0
  const drawn = groups.map(([name, ofCase]) => {
    const bars = [...Map.groupBy(ofCase, ({ target }) => target)].map(([target, own]) => ({
      target,
      micros: median(own.map(({ cpuMicros }) => cpuMicros)),
    }))
    const most = Math.max(...bars.map(({ micros }) => micros))
    const title = text(0, top + 14, `${name}: CPU microseconds per ${unitOf(name)}`)
    const rows = bars.map(({ target, micros }, at) => {
      const y = top + 22 + at * (barHeight + 4)
      const width = Math.max(1, (micros / most) * barWidth)
      const fill = colours[target] ?? '#52606d'
      return `${text(0, y + 12, target)}<rect x="${labelWidth}" y="${y}" width="${width.toFixed(1)}" height="${barHeight}" fill="${fill}"/>${text(labelWidth + width + 6, y + 12, micros.toFixed(1))}`
    })
    top += 40 + bars.length * (barHeight + 4)
    return title + rows.join('')
  })
  const size = `width="${labelWidth + barWidth + 80}" height="${top}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="12">${drawn.join('\n')}</svg>\n`
}

const text = (x: number, y: number, words: string): string => `<text x="${x.toFixed(1)}" y="${y}">${words}</text>`

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
