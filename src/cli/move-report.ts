import type { Moved, MoveOptions, MoveStep } from '../app/storage/move-to-postgres.ts'
import { plural } from '../base/plural.ts'
import { describeVerification } from './audit-report.ts'

const stepTexts: Readonly<Record<MoveStep, { readonly verb: string; readonly noun: string }>> = {
  copy: { verb: 'Copied', noun: 'rows' },
  verify: { verb: 'Verified', noun: 'audit events' },
}

/** Writes progress: on a terminal every change of a single line, elsewhere a line for every tenth. */
export function createMoveProgress(
  write: (text: string) => void,
  { isTerminal }: { readonly isTerminal: boolean },
): MoveOptions['onProgress'] {
  let last = ''
  return (step, { done, total }) => {
    const { verb, noun } = stepTexts[step]
    const tenth = total === 0 ? 10 : Math.floor((10 * done) / total)
    const text = `${verb} ${done} of ${total} ${noun}`
    const key = isTerminal ? text : `${step} ${tenth}`
    if (key === last) return
    last = key
    write(text)
  }
}

export function moveJson({ tables, rows, nulTexts, auditLogs, events, brokenLogs, ledger, ...moved }: Moved) {
  return {
    complete: moved.isComplete,
    continued: moved.isContinued,
    tables,
    rows,
    nul_texts: Object.fromEntries(nulTexts),
    audit_logs: auditLogs,
    audit_events: events,
    broken_logs: brokenLogs,
    ledger,
  }
}

export function describeMove(moved: Moved): string {
  const { tables, rows, nulTexts, auditLogs, events } = moved
  return [
    `Copied ${plural(tables, 'table')} with ${plural(rows, 'row')}; counts and sums are equal.`,
    ...[...nulTexts].map(
      ([table, count]) =>
        `In ${plural(count, 'text')} of the table ${table} NUL was replaced by U+001A, because PostgreSQL does not store NUL.`,
    ),
    `Verified ${plural(events, 'event')} of ${plural(auditLogs, 'audit log')}, and the ledger.`,
    ...(moved.isComplete ? nextSteps(moved) : problems(moved)),
  ].join('\n')
}

const nextSteps = ({ secretPlaces: { current, previous } }: Moved): string[] => [
  'Set these variables on every node, then start it:',
  '  DATABASE_URL               the URL of --to, with its password',
  `  GATEHOUSE_SECRET           ${current ?? 'unchanged'}`,
  ...(previous === undefined ? [] : [`  GATEHOUSE_SECRET_PREVIOUS  ${previous}`]),
  'Do not start a server on the embedded storage again: its keys and credits would count twice.',
]

const problems = ({ brokenLogs, ledger: { broken } }: Moved): string[] => [
  ...brokenLogs.map((report) => describeVerification({ report }).text),
  ...(broken === null ? [] : [`The ledger is not consistent: ${broken.table} ${broken.id} ${broken.says}.`]),
  'No server starts on the copy. Verify the embedded storage: gatehouse audit verify, gatehouse ledger verify.',
]
