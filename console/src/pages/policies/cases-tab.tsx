import { useState } from 'react'
import { Badge, type Tone } from '../../kit/badge.tsx'
import { Button, buttonClass } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { LoadMore } from '../../kit/load-more.tsx'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import { CaseDialog } from './case-dialog.tsx'
import { DeleteCaseDialog } from './delete-case-dialog.tsx'
import { useCases, useRunCases, type CaseResult, type PolicyCase } from './queries.ts'
import { usePolicyDraft } from './use-draft.ts'
import tab from './history-tab.module.css'
import styles from './cases-tab.module.css'

const text = words.policy.cases

type Open = { readonly dialog: 'add' } | { readonly dialog: 'edit' | 'delete'; readonly of: PolicyCase }

/** Texts with what the rule is expected to say, and what the saved draft says. */
export function CasesTab() {
  const { policy, isChanged } = usePolicyDraft()
  const mayWrite = useMay('policies:write')
  const query = useCases(policy.id)
  const run = useRunCases(policy.id)
  const [open, setOpen] = useState<Open>()
  const close = (): void => setOpen(undefined)
  const { rows } = query
  const results = currentResults(run, policy.revision, rows)
  const revisions = new Map(rows.map(({ id, revision }) => [id, revision]))
  return (
    <div className={tab.tab}>
      {isChanged && <Notice tone="none">{text.saveFirst}</Notice>}
      <Card
        isFlush
        title={text.title}
        note={
          <span className={styles.actions}>
            {rows.length > 0 && (
              <Button
                isSmall
                disabled={run.isPending}
                onClick={() => run.mutate({ revision: policy.revision, cases: revisions })}
              >
                {run.isPending ? text.running : text.run}
              </Button>
            )}
            {mayWrite && (
              <Button isSmall look="primary" onClick={() => setOpen({ dialog: 'add' })}>
                {text.add}
              </Button>
            )}
          </span>
        }
      >
        {query.isPending && <LoadingRows widths={[160, 240, 80, 80]} rows={4} />}
        {query.isError && <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />}
        {!query.isPending && !query.isError && rows.length === 0 && (
          <EmptyState title={text.none}>
            <p>{text.noneText}</p>
            <CodeBlock code="gatehouse policies test -f policies.yaml" />
          </EmptyState>
        )}
        {rows.length > 0 && (
          <>
            <Summary results={results} />
            <DataTable
              label={text.title}
              rows={rows}
              columns={columnsOf({ results, mayWrite, onOpen: setOpen })}
              idOf={({ id }) => id}
            />
            <LoadMore query={query} />
          </>
        )}
        {run.isError && <ErrorNotice error={run.error} />}
      </Card>
      {open?.dialog === 'add' && <CaseDialog policy={policy} onClose={close} />}
      {open?.dialog === 'edit' && <CaseDialog policy={policy} stored={open.of} onClose={close} />}
      {open?.dialog === 'delete' && <DeleteCaseDialog policyCase={open.of} onClose={close} />}
    </div>
  )
}

/** A result is of the draft and the case that were run. After a change of either it is not shown. */
function currentResults(
  { data, variables }: ReturnType<typeof useRunCases>,
  revision: number,
  rows: readonly PolicyCase[],
): readonly CaseResult[] {
  if (data === undefined || variables?.revision !== revision) return []
  return data.results.filter(({ case_id: id }) => {
    const ran = variables.cases.get(id)
    return ran === undefined || rows.some((each) => each.id === id && each.revision === ran)
  })
}

function Summary({ results }: { readonly results: readonly CaseResult[] }) {
  if (results.length === 0) return null
  const of = (state: CaseResult['state']): string => count(results.filter((result) => result.state === state).length)
  return (
    <p className={styles.summary} role="status">
      {text.summary(of('passed'), of('failed'), of('not_evaluated'))}
    </p>
  )
}

type ColumnParts = {
  readonly results: readonly CaseResult[]
  readonly mayWrite: boolean
  readonly onOpen: (open: Open) => void
}

function columnsOf({ results, mayWrite, onOpen }: ColumnParts): readonly DataColumn<PolicyCase>[] {
  const resultOf = ({ id }: PolicyCase): CaseResult | undefined => results.find((result) => result.case_id === id)
  const menu: DataColumn<PolicyCase> = {
    id: 'menu',
    name: text.actions,
    isNumber: true,
    cell: (of) => (
      <Menu
        triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
        label={text.actionsOf(of.says)}
        trigger={<Icon name="more" />}
      >
        <MenuItem onClick={() => onOpen({ dialog: 'edit', of })}>{text.edit}</MenuItem>
        <MenuItem onClick={() => onOpen({ dialog: 'delete', of })}>{text.remove}</MenuItem>
      </Menu>
    ),
  }
  return [
    { id: 'says', name: text.says, cell: ({ says }) => <span className={styles.says}>{says}</span> },
    {
      id: 'text',
      name: text.given,
      priority: 2,
      cell: (each) => (
        <span className={styles.given} title={givenText(each)}>
          {givenText(each)}
        </span>
      ),
    },
    { id: 'expect', name: text.expect, cell: ({ expect }) => expectationText(expect) },
    { id: 'weight', name: text.weight, priority: 2, cell: ({ weight }) => text.weights[weight] },
    { id: 'result', name: text.result, cell: (each) => <Result result={resultOf(each)} /> },
    {
      id: 'score',
      name: text.score,
      isNumber: true,
      priority: 3,
      cell: (each) => resultOf(each)?.score_bp?.toLocaleString() ?? words.common.none,
    },
    ...(mayWrite ? [menu] : []),
  ]
}

const givenText = ({ given }: PolicyCase): string => {
  if (given === null) return text.hidden
  return given.text ?? JSON.stringify(given.messages ?? [])
}

export function expectationText(expect: PolicyCase['expect']): string {
  if (typeof expect === 'string') return text.expectations[expect]
  return text.range(expect.at_least_bp ?? 0, expect.at_most_bp ?? 10_000)
}

const tones: Readonly<Record<CaseResult['state'], Tone>> = { passed: 'allow', failed: 'deny', not_evaluated: 'warning' }

function Result({ result }: { readonly result: CaseResult | undefined }) {
  if (result === undefined) return words.common.none
  const tone = result.state === 'failed' && result.weight === 'should' ? 'warning' : tones[result.state]
  return (
    <Badge tone={tone} title={result.not_evaluated ?? undefined}>
      {text.states[result.state]}
    </Badge>
  )
}
