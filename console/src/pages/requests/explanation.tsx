import { CommandPreview } from '../../kit/command-preview.tsx'
import { count } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { SmallHeading } from '../../kit/small-heading.tsx'
import { LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { wordsOfSpan } from './explained-words.ts'
import {
  useExplanation,
  useRequestContent,
  type Explanation,
  type RequestContent,
  type RequestDetail,
} from './queries.ts'
import styles from './explanation.module.css'

const text = words.request.explanation

type Change = Explanation['nearest'][number]

/** What the rule compared, and the smallest changes with which the request would have passed. Loaded after the request is shown. */
export function ExplanationPanel({ request }: { readonly request: RequestDetail }) {
  const explanation = useExplanation(request.id)
  // Read only if the texts are shown, because each read is an event of the audit log.
  const content = useRequestContent(request.id, false).data ?? undefined
  if (explanation.isPending) return <LoadingRows widths={[260, 180]} rows={2} />
  if (explanation.isError) return <ErrorNotice error={explanation.error} />
  const { nearest, differs, evidence, incomplete } = explanation.data
  const parts = evidence.filter(({ kind }) => kind === 'expression')
  return (
    <>
      {parts.length > 0 && (
        <>
          <SmallHeading>{text.parts}</SmallHeading>
          <ul className={styles.list}>
            {parts.map(({ name, value }, at) => (
              <li key={at}>
                <code>{name}</code> {value}
              </li>
            ))}
          </ul>
        </>
      )}
      <SmallHeading>{text.nearest}</SmallHeading>
      {nearest.length === 0 && <p className={styles.note}>{text.none}</p>}
      <ul className={styles.list}>
        {nearest.map((change, at) => (
          <li key={at}>
            <ChangeLine change={change} request={request} content={content} />
          </li>
        ))}
      </ul>
      {differs.length > 0 && (
        <Notice tone="warning">
          {text.differs}{' '}
          {differs.map(({ field, recorded, rerun }) => text.difference(field, recorded, rerun)).join('; ')}.{' '}
          {incomplete.length > 0 && text.lacked(incomplete.map((loss) => text.losses[loss] ?? loss))}
        </Notice>
      )}
      <p className={styles.note}>{text.bases[explanation.data.basis]}</p>
      <CommandPreview
        call={{
          method: 'GET',
          path: `/v1/organization/requests/${request.id}/explanation`,
          command: `gatehouse explain ${request.id}`,
        }}
      />
    </>
  )
}

type LineProps = {
  readonly change: Change
  readonly request: RequestDetail
  readonly content: RequestContent | undefined
}

function ChangeLine({ change, request, content }: LineProps) {
  const doubt = change.verified ? '' : ` ${text.notVerified}`
  if (change.change === 'threshold')
    return (
      <>
        {text.threshold(count(change.threshold_bp))} {affectedText(change.also_affects)}
        {doubt}
      </>
    )
  if (change.change === 'without_check') return text.withoutCheck(nameOf(change, request)) + doubt
  const shown = wordsOfSpan(change, content)
  const where = partName(change.part)
  if (shown === undefined) return text.withoutSpan(count(change.start), count(change.end), where)
  return (
    <>
      {text.without} <b>{shown}</b> {text.inPart(where)}
    </>
  )
}

function affectedText(affects: Change['also_affects']): string {
  if (affects === null) return ''
  return affects.checked === 0
    ? text.affectsNone
    : text.affects(count(affects.requests), count(affects.checked), affects.is_complete)
}

function nameOf({ check, policy_id: policyId }: Change, { outcomes }: RequestDetail): string {
  const own = outcomes.find(
    (outcome) => outcome.check === check && (check !== 'policy' || outcome.policy_id === policyId),
  )
  return own?.name ?? (check === null ? '' : words.request.checks[check])
}

/** `messages[0]` is the first message. */
function partName(part: string | null): string {
  const message = /^messages\[(\d+)\]/.exec(part ?? '')?.[1]
  return message === undefined ? text.response : text.message(Number(message) + 1)
}
