import type { AlertMessage } from '../../domain/alerts/alert.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

/** The first line of a message: `Resolved: Denials are over 20 %`. */
export function headlineOf({ event, title }: AlertMessage): string {
  if (event === 'resolved') return `Resolved: ${title}`
  return event === 'test' ? `Test: ${title}` : title
}

/** The sentences below the first line. */
function sentencesOf(message: AlertMessage): string[] {
  const { event, text, startedAtMs, endedAtMs, organizationName, ruleName } = message
  const ended = endedAtMs === null ? [] : [`It lasted from ${shortTime(startedAtMs)} to ${shortTime(endedAtMs)} (UTC).`]
  return [
    event === 'resolved' ? `When it began: ${text}` : text,
    ...(event === 'fired' ? [`It began at ${shortTime(startedAtMs)} (UTC).`] : ended),
    `Organization: ${organizationName}`,
    ...(ruleName === '' ? [] : [`Rule: ${ruleName}`]),
  ]
}

const shortTime = (ms: number): string => iso(ms).slice(0, 16).replace('T', ' ')

/** The body of a webhook. */
export const webhookBody = (message: AlertMessage): string =>
  JSON.stringify({
    type: `alert.${message.event}`,
    timestamp: iso(message.endedAtMs ?? message.startedAtMs),
    data: {
      id: message.id,
      message_id: message.messageId,
      organization: { id: message.organizationId, name: message.organizationName },
      rule: message.ruleId === null ? null : { id: message.ruleId, name: message.ruleName },
      kind: message.kind,
      subject: message.subject === '' ? null : message.subject,
      title: message.title,
      text: message.text,
      figure: message.figure,
      threshold: message.threshold,
      unit: message.unit,
      started_at: iso(message.startedAtMs),
      ended_at: message.endedAtMs === null ? null : iso(message.endedAtMs),
      url: message.url,
    },
  })

/** Slack reads these three characters as the start of links and mentions, and names in an alert are chosen by users. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export const slackBody = (message: AlertMessage): string =>
  JSON.stringify({
    text: [
      `*${slackText(headlineOf(message))}*`,
      ...sentencesOf(message).map(slackText),
      ...(message.url === null ? [] : [`<${message.url}|Open in the console>`]),
    ].join('\n'),
  })

export const mailText = (message: AlertMessage): string =>
  [
    `${headlineOf(message)}.`,
    '',
    ...sentencesOf(message),
    ...(message.url === null ? [] : ['', message.url]),
    '',
    `Alert ${message.id}, message ${message.messageId}.`,
  ].join('\n')
