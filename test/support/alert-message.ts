import type { AlertMessage } from '../../src/domain/alerts/alert.ts'

/** A message about an alert that began. */
export const alertMessage = (fields: Partial<AlertMessage> = {}): AlertMessage => ({
  id: 'alert_1',
  messageId: 'msg_1',
  event: 'fired',
  organizationId: 'org_1',
  organizationName: 'Example Inc.',
  ruleId: 'rule_1',
  ruleName: 'Many denials',
  kind: 'denials',
  subject: '',
  title: 'Denials are over 20 %',
  text: '60 of 200 requests in the last 15 minutes were denied (30 %). The threshold is 20 %.',
  figure: 30,
  threshold: 20,
  unit: 'percent',
  link: { page: 'requests' },
  startedAtMs: Date.UTC(2026, 0, 1, 10),
  endedAtMs: null,
  url: 'https://gatehouse.example.com/console/requests?status=denied',
  ...fields,
})
