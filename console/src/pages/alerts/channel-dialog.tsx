import { useState } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { ManagedNotice, Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import {
  channelsPath,
  useCreateChannel,
  useTestChannel,
  useUpdateChannel,
  type AlertChannel,
  type ChannelBody,
} from './queries.ts'

const text = words.alerts
const fields = ['name', 'config']
const kinds = ['webhook', 'slack', 'email'] as const

type ChannelDraft = {
  readonly kind: AlertChannel['kind']
  readonly name: string
  readonly url: string
  readonly secret: string
  /** Addresses, one on each line or separated by commas. */
  readonly to: string
}

const empty: ChannelDraft = { kind: 'webhook', name: '', url: '', secret: '', to: '' }

const addressesIn = (to: string): string[] => to.split(/[\s,;]+/).filter((address) => address !== '')

function bodyOf({ kind, name, url, secret, to }: ChannelDraft): ChannelBody {
  const named = { name: name.trim() }
  if (kind === 'email') return { kind, ...named, config: { to: addressesIn(to) } }
  if (kind === 'slack') return { kind, ...named, config: { url: url.trim() } }
  return { kind, ...named, config: { url: url.trim(), secret } }
}

type Close = { readonly onClose: () => void }

export function CreateChannelDialog({ onClose }: Close) {
  const [draft, setDraft] = useState(empty)
  const change = useCreateChannel(onClose)
  const body = bodyOf(draft)
  const shown = draft.kind === 'email' ? body : { ...body, config: { ...body.config, ...hiddenSecret(draft.kind) } }
  return (
    <FormDialog
      title={text.create.channels}
      action={text.create.channels}
      change={change}
      fields={fields}
      onClose={onClose}
      onSubmit={() => change.mutate(body)}
    >
      <Field label={text.kind} hint={text.channelHints[draft.kind]}>
        {(props) => (
          <select
            {...props}
            value={draft.kind}
            onChange={(event) =>
              setDraft({ ...draft, kind: kinds.find((kind) => kind === event.target.value) ?? draft.kind })
            }
          >
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {text.channelKinds[kind]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <ChannelFields draft={draft} error={change.error} isNew onChange={setDraft} />
      <CommandPreview
        call={{ method: 'POST', path: channelsPath, body: shown, command: 'gatehouse alerts create -f channel.yaml' }}
      />
    </FormDialog>
  )
}

/** The preview is copied into terminals and chats, so it has no secret. */
const hiddenSecret = (kind: 'webhook' | 'slack'): object =>
  kind === 'slack' ? { url: '$SLACK_URL' } : { secret: '$WEBHOOK_SECRET' }

export function EditChannelDialog({ channel, onClose }: Close & { readonly channel: AlertChannel }) {
  const { url, to } = channel.config
  const [draft, setDraft] = useState<ChannelDraft>({
    kind: channel.kind,
    name: channel.name,
    url: typeof url === 'string' ? url : '',
    secret: '',
    to: Array.isArray(to) ? to.join('\n') : '',
  })
  const change = useUpdateChannel(channel.id, onClose)
  const { name, config: whole } = bodyOf(draft)
  // An empty secret leaves the stored one unchanged.
  const { secret: _secret, ...others } = { secret: '', ...whole }
  const config = draft.secret === '' ? others : whole
  const body = { name, config }
  return (
    <FormDialog
      title={text.verbOf(text.verbs.edit, channel.name)}
      action={text.save}
      change={change}
      fields={fields}
      onClose={onClose}
      onSubmit={() => change.mutate(body)}
    >
      <ManagedNotice owner={channel.managed_by} />
      <ChannelFields draft={draft} error={change.error} onChange={setDraft} />
      <CommandPreview
        call={{
          method: 'PATCH',
          path: `${channelsPath}/${channel.id}`,
          body: { name, config: others },
          command: `gatehouse alerts update ${channel.id} -f channel.yaml`,
        }}
      />
    </FormDialog>
  )
}

type FieldsProps = {
  readonly draft: ChannelDraft
  readonly error: unknown
  readonly isNew?: boolean
  readonly onChange: (draft: ChannelDraft) => void
}

function ChannelFields({ draft, error, isNew = false, onChange }: FieldsProps) {
  const { kind } = draft
  return (
    <>
      <Field label={text.name} error={errorOfField(error, 'name')}>
        {(props) => (
          <input
            {...props}
            value={draft.name}
            required
            autoComplete="off"
            onChange={(event) => onChange({ ...draft, name: event.target.value })}
          />
        )}
      </Field>
      {kind === 'email' ? (
        <Field label={text.addresses} hint={text.addressesHint} error={errorOfField(error, 'config')}>
          {(props) => (
            <textarea
              {...props}
              rows={3}
              value={draft.to}
              required
              spellCheck={false}
              onChange={(event) => onChange({ ...draft, to: event.target.value })}
            />
          )}
        </Field>
      ) : (
        <Field label={text.url} hint={text.urlHints[kind]} error={errorOfField(error, 'config.url')}>
          {(props) => (
            <input
              {...props}
              value={draft.url}
              required
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => onChange({ ...draft, url: event.target.value })}
            />
          )}
        </Field>
      )}
      {kind === 'webhook' && (
        <Field
          label={text.secret}
          hint={isNew ? text.secretHint : text.keptSecret}
          error={errorOfField(error, 'config.secret')}
        >
          {(props) => (
            <input
              {...props}
              type="password"
              value={draft.secret}
              required={isNew}
              autoComplete="new-password"
              onChange={(event) => onChange({ ...draft, secret: event.target.value })}
            />
          )}
        </Field>
      )}
    </>
  )
}

/** Sends a test and shows what the other side answered. */
export function TestDialog({ channel, onClose }: Close & { readonly channel: AlertChannel }) {
  const change = useTestChannel(channel.id)
  const { data } = change
  return (
    <FormDialog
      title={text.verbOf(text.verbs.test, channel.name)}
      action={data === undefined ? text.verbs.test : text.testAgain}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate(undefined)}
    >
      <p>{text.testText}</p>
      {data !== undefined && (
        <Notice tone={data.success ? 'allow' : 'error'}>
          {data.success ? text.testSent : text.testFailed} {data.message}
        </Notice>
      )}
      <CommandPreview
        call={{
          method: 'POST',
          path: `${channelsPath}/${channel.id}/test`,
          command: `gatehouse alerts test ${channel.id}`,
        }}
      />
    </FormDialog>
  )
}
