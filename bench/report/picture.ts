import type { Results } from './results.ts'
import { rowsOf, type Row } from './rows.ts'

const [width, labelWidth, barWidth, barStep] = [900, 210, 540, 26]

type Bar = { readonly label: string; readonly value: number; readonly second?: number; readonly isOwn: boolean }
type Panel = {
  readonly title: string
  readonly note: string
  readonly bars: readonly Bar[]
  readonly shown: (bar: Bar) => string
}

/** Two groups of bars, in the colours of the reader's theme: the cost of a request, and the delay of a streamed word. */
export function picture({ figures }: Results): string {
  const rows = rowsOf(figures)
  const of = (name: string, read: (row: Row) => Omit<Bar, 'label' | 'isOwn'>): Bar[] =>
    (rows.find(({ benchCase }) => benchCase.name === name)?.rows ?? [])
      .filter(({ target }) => target !== 'direct')
      .map((row) => ({ label: row.target, isOwn: row.target.startsWith('gatehouse'), ...read(row) }))
  const panels: Panel[] = [
    {
      title: 'CPU microseconds a request',
      note: 'a prompt of 1 KB and an answer of 640 characters, new words in both',
      bars: of('whole, fresh', ({ figure }) => ({ value: figure.cpuMicros })),
      shown: ({ value }) => Math.round(value).toLocaleString('en'),
    },
    {
      title: 'Delay of a streamed word, milliseconds',
      note: '100 answers of 20 words a second; half of the words arrive within the full bar, 99 of 100 within the thin one',
      bars: of('100 paced streams', ({ figure: { chunkP50Ms = 0, chunkP99Ms = 0 } }) => ({
        value: chunkP50Ms,
        second: chunkP99Ms,
      })),
      shown: ({ value, second = 0 }) => `${value.toFixed(0)} / ${second.toFixed(0)}`,
    },
  ]
  let top = 10
  const drawn = panels
    .filter(({ bars }) => bars.length > 0)
    .map((panel) => {
      const own = drawPanel(panel, top)
      top += 68 + panel.bars.length * barStep
      return own
    })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" role="img" aria-labelledby="title description">
  <title id="title">Cost and delay beside other gateways</title>
  <desc id="description">${panels.map(describe).join(' ')}</desc>
  <style>
    :root { --ink: #1c2024; --soft: #5b6570; --other: #aab2bd; --own: #2f5fd0; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #a0a8b0; --other: #5b6570; --own: #8ab4ff; } }
    text { font: 14px ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: var(--ink) }
    .small { font-size: 12px; fill: var(--soft) }
    .head { font-weight: 600 }
    .own { fill: var(--own) }
    .other { fill: var(--other) }
  </style>
${drawn.join('\n')}
</svg>
`
}

const describe = ({ title, bars, shown }: Panel): string =>
  `${title}: ${bars.map((bar) => `${bar.label} ${shown(bar)}`).join(', ')}.`

/** A bar that is more than three times as long as the longest of ours is cut, so that the others can be compared. */
function drawPanel({ title, note, bars, shown }: Panel, top: number): string {
  const lengthOf = ({ value, second }: Bar): number => Math.max(value, second ?? 0)
  const longestOwn = Math.max(1, ...bars.filter(({ isOwn }) => isOwn).map(lengthOf))
  const longest = Math.min(3 * longestOwn, Math.max(...bars.map(lengthOf)))
  const scale = (value: number): number => Math.max(1, (Math.min(value, longest) / longest) * barWidth)
  const rows = bars.map((bar, at) => {
    const y = top + 48 + at * barStep
    const colour = bar.isOwn ? 'own' : 'other'
    const rect = (length: number, thickness: number): string =>
      `<rect class="${colour}" x="${labelWidth}" y="${y + (18 - thickness) / 2}" width="${length.toFixed(1)}" height="${thickness}"/>`
    const thin = bar.second === undefined ? '' : rect(scale(bar.second), 4)
    const label = `${shown(bar)}${lengthOf(bar) > longest ? ' (cut)' : ''}`
    const x = labelWidth + scale(lengthOf(bar)) + 8
    return `  <text x="0" y="${y + 14}">${bar.label}</text>${rect(scale(bar.value), 18)}${thin}<text x="${x.toFixed(1)}" y="${y + 14}">${label}</text>`
  })
  return [
    `  <text class="head" x="0" y="${top + 14}">${title}</text>`,
    `  <text class="small" x="0" y="${top + 34}">${note}</text>`,
    ...rows,
  ].join('\n')
}
