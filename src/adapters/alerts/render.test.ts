import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { alertMessage } from '../../../test/support/alert-message.ts'
import { slackBody, webhookBody } from './render.ts'

describe('the text of an alert', () => {
  it('is JSON with the figure, the threshold and ids for a webhook', () => {
    assert.deepEqual(JSON.parse(webhookBody(alertMessage())), {
      type: 'alert.fired',
      timestamp: '2026-01-01T10:00:00.000Z',
      data: {
        id: 'alert_1',
        message_id: 'msg_1',
        organization: { id: 'org_1', name: 'Example Inc.' },
        rule: { id: 'rule_1', name: 'Many denials' },
        kind: 'denials',
        subject: null,
        title: 'Denials are over 20 %',
        text: '60 of 200 requests in the last 15 minutes were denied (30 %). The threshold is 20 %.',
        figure: 30,
        threshold: 20,
        unit: 'percent',
        started_at: '2026-01-01T10:00:00.000Z',
        ended_at: null,
        url: 'https://gatehouse.example.com/console/requests?status=denied',
      },
    })
  })

  it('cannot mention people or add links in Slack, whatever names users choose', () => {
    const { text } = JSON.parse(slackBody(alertMessage({ title: 'The key <!channel> & co', url: null }))) as {
      text: string
    }
    assert.match(text, /^\*The key &lt;!channel&gt; &amp; co\*\n/)
    assert.doesNotMatch(text, /<|null/)
  })

  it('ends with a link for Slack', () => {
    const { text } = JSON.parse(slackBody(alertMessage())) as { text: string }
    assert.match(text, /<https:\/\/gatehouse\.example\.com\/console\/requests\?status=denied\|Open in the console>$/)
  })
})
