import { Link } from '@tanstack/react-router'
import { summaryOf, type RuleLink, type SummarizedRequest } from './request-summary.ts'
import styles from './request-summary-line.module.css'

export type SummaryLineProps = {
  readonly request: SummarizedRequest
  /** Whether the person may open a rule; others read its name. */
  readonly mayOpen: (rule: RuleLink) => boolean
}

/** What happened to the request, with a link to the rule that decided. */
export const RequestSummary = (props: SummaryLineProps) => (
  <p className={styles.line}>
    <SummaryText {...props} />
  </p>
)

/** The same within other text. */
export const SummaryText = ({ request, mayOpen }: SummaryLineProps) => (
  <>
    {summaryOf(request).map((part, at) =>
      typeof part === 'string' ? (
        part
      ) : mayOpen(part.rule) ? (
        <RuleAnchor key={at} rule={part.rule} label={part.label} />
      ) : (
        <b key={at}>{part.label}</b>
      ),
    )}
  </>
)

/** A link to the page of a rule. */
export const RuleAnchor = ({ rule, label }: { readonly rule: RuleLink; readonly label: string }) =>
  rule.kind === 'policy' ? (
    <Link to="/policies/$policyId" params={{ policyId: rule.policyId }}>
      {label}
    </Link>
  ) : (
    <Link to="/gateway">{label}</Link>
  )
