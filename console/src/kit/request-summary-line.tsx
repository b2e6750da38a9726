import { Link } from '@tanstack/react-router'
import type { components } from '../api/schema.d.ts'
import { summaryOf, type RuleLink } from './request-summary.ts'
import styles from './request-summary-line.module.css'

export type SummaryLineProps = {
  readonly request: components['schemas']['RequestDetail']
  /** Whether the person may open a rule; others read its name. */
  readonly mayOpen: (rule: RuleLink) => boolean
}

/** What happened to the request, with a link to the rule that decided. */
export const RequestSummary = ({ request, mayOpen }: SummaryLineProps) => (
  <p className={styles.line}>
    {summaryOf(request).map((part, at) =>
      typeof part === 'string' ? (
        part
      ) : mayOpen(part.rule) ? (
        <RuleAnchor key={at} rule={part.rule} label={part.label} />
      ) : (
        <b key={at}>{part.label}</b>
      ),
    )}
  </p>
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
