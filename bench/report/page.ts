import { readFileSync, writeFileSync } from 'node:fs'
import { chunksPerAnswer } from '../load/workload.ts'
import { stages, type Stage } from '../targets/trace-probe.ts'
import { here } from '../targets/script.ts'
import { aimsOf } from './aims.ts'
import { picture } from './picture.ts'
import type { Figure } from '../measure.ts'
import type { Results } from './results.ts'
import { encoderShare, rowsOf, type CaseRows, type Row } from './rows.ts'

const page = here('../docs/performance.md')
const image = here('../docs/images/performance.svg')
const [begin, end] = ['<!-- written by npm run bench -- --write: begin -->', '<!-- end -->']

/** Writes the figures between the two marks of `docs/performance.md`, and the picture. The text around them is written by hand. */
export function writePage(results: Results): void {
  const [before = ''] = readFileSync(page, 'utf8').split(begin)
  const after = readFileSync(page, 'utf8').split(end)[1] ?? ''
  writeFileSync(page, `${before}${begin}\n\n${figuresSection(results)}\n${end}${after}`)
  writeFileSync(image, picture(results))
}

function figuresSection(results: Results): string {
  const { date, commit, cpu, cores, node, durableWrite, rounds, seconds, figures } = results
  const length = `${rounds} ${rounds === 1 ? 'round' : 'rounds'} of ${seconds} s, of 10 s with paced streams`
  const machine = `Measured on ${date} at commit \`${commit}\` on ${cores} cores (${cpu.trim()}), Node ${node.slice(1)}; ${length}.`
  const disk = `Writing one page durably took this disk ${durableWrite.p50Ms.toFixed(2)} ms (p50) and ${durableWrite.p99Ms.toFixed(2)} ms (p99).`
  const aims = aimsOf(results).map(({ what, aim, measured, isMet }) => [what, aim, measured, isMet ? 'yes' : 'no'])
  return [
    `${machine} ${disk} ${loadSide(figures)}`,
    '## Aims',
    markdownTable(['', 'Aim', 'Measured', 'Met'], aims),
    '## Figures',
    ...rowsOf(figures).map(caseSection),
    '',
  ].join('\n\n')
}

/** Load generator and upstream must be cheap beside what they measure. */
function loadSide(figures: readonly Figure[]): string {
  const ofCase = figures.filter((figure) => figure.case === 'whole, fresh')
  const direct = ofCase.find(({ target }) => target === 'direct')
  const bare = ofCase.find(({ target }) => target === 'bare')
  if (direct === undefined || bare === undefined) return ''
  const micros = direct.cpuMicros + direct.loadMicros
  return `Upstream and load generator together took ${whole(micros)} us a request, ${(micros / bare.cpuMicros).toFixed(2)} times the bare proxy.`
}

function caseSection({ benchCase, rows }: CaseRows): string {
  const { name, about, workload, isTraced } = benchCase
  const columns = isTraced === true ? waitColumns : workload.stream === 'paced' ? pacedColumns : requestColumns
  const own = columns.filter(({ read }) => rows.some((row) => read(row) !== ''))
  const heading = `### ${name[0]?.toUpperCase()}${name.slice(1)}`
  const cells = rows.map((row) => own.map(({ read }) => read(row)))
  return [
    heading,
    about,
    markdownTable(
      own.map(({ title }) => title),
      cells,
    ),
  ].join('\n\n')
}

type Column = { readonly title: string; readonly read: (row: Row) => string }

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const targetColumns: readonly Column[] = [
  { title: 'Gateway', read: ({ target }) => target },
  { title: 'Switched on', read: ({ switchedOn }) => switchedOn },
]
const timesBare: Column = { title: 'x bare', read: (row) => row.timesBare?.toFixed(2) ?? '' }
const spread: Column = {
  title: 'Spread',
  read: ({ leastMicros, mostMicros }) => `${whole(leastMicros)}–${whole(mostMicros)}`,
}
const threads: Column = { title: 'CPU by thread, us', read: ({ figure }) => threadsText(figure) }

const requestColumns: readonly Column[] = [
  ...targetColumns,
  { title: 'CPU us a request', read: ({ figure }) => whole(figure.cpuMicros) },
  {
    title: 'us a chunk',
    read: ({ figure }) => (figure.case.includes('burst') ? (figure.cpuMicros / chunksPerAnswer).toFixed(1) : ''),
  },
  spread,
  timesBare,
  { title: 'p50 ms', read: ({ figure }) => figure.p50Ms.toFixed(2) },
  { title: 'p99 ms', read: ({ figure }) => figure.p99Ms.toFixed(1) },
  {
    title: 'KB allocated',
    read: ({ figure: { heap, requests } }) => (heap ? whole(heap.allocatedBytes / 1024 / requests) : ''),
  },
  { title: 'Memory MB', read: ({ figure }) => whole(figure.residentKb / 1024) },
  { title: 'Texts for the encoder, %', read: ({ figure }) => encoderShare(figure)?.toFixed(1) ?? '' },
  {
    title: 'Longest GC pause ms',
    read: ({ figure: { heap, case: name } }) =>
      heap && name.includes('a second') ? heap.longestPauseMs.toFixed(0) : '',
  },
  threads,
]

const pacedColumns: readonly Column[] = [
  ...targetColumns,
  { title: 'CPU us a chunk', read: ({ figure }) => whole(figure.cpuMicros) },
  spread,
  timesBare,
  { title: 'Delay p50 ms', read: ({ figure }) => whole(figure.chunkP50Ms ?? 0) },
  { title: 'Delay p99 ms', read: ({ figure }) => whole(figure.chunkP99Ms ?? 0) },
  { title: 'Memory MB', read: ({ figure }) => whole(figure.residentKb / 1024) },
  threads,
]

/** p50 and p99 of each stage. */
const waitColumns: readonly Column[] = [
  ...targetColumns,
  ...Object.entries(stages).map(([stage, title]): Column => ({
    title: title[0]?.toUpperCase() + title.slice(1),
    read({ figure }) {
      const wait = figure.waits?.[stage as Stage]
      return wait === undefined || wait.count === 0 ? '' : `${wait.p50Ms.toFixed(2)} / ${wait.p99Ms.toFixed(1)}`
    },
  })),
  {
    title: 'Sleeps of the storage thread',
    read: ({ figure }) => sleeps(figure.threads['storage']?.sleeps, figure.requests),
  },
]

const sleeps = (count: number | undefined, requests: number): string =>
  count === undefined ? '' : (count / requests).toFixed(1)

function threadsText({ threads: all, requests, chunks }: Row['figure']): string {
  const units = chunks ?? requests
  const used = Object.entries(all).filter(([, { cpuMicros }]) => cpuMicros / units >= 1)
  return used.length < 2 ? '' : used.map(([name, { cpuMicros }]) => `${name} ${whole(cpuMicros / units)}`).join(', ')
}

function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n')
}
