import { useState, type ReactNode } from 'react'
import { serverUrl } from '../../api/client.ts'
import { useModelNames } from '../../api/names.ts'
import { useInferenceUrl } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { time } from '../../kit/format.ts'
import { Notice } from '../../kit/notice.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { words } from '../../words/en.ts'
import type { IssuedKey } from './queries.ts'
import styles from './secret.module.css'

const text = words.projects

type SecretProps = {
  readonly issued: IssuedKey
  readonly isRotated?: boolean
  readonly onClose: () => void
  /** What else was done with the key. */
  readonly children?: ReactNode
}

/**
 * The secret of a key, which the server returns once, and code that uses it. It is kept in no address and no storage. Escape
 * and the close button ask first.
 */
export function SecretDialog({ issued, isRotated = false, onClose, children }: SecretProps) {
  const [isAsking, setAsking] = useState(false)
  return (
    <Dialog
      isWide
      title={text.secretTitle(issued.name)}
      onClose={() => setAsking(true)}
      actions={
        <>
          {isAsking && (
            <Button look="danger" onClick={onClose}>
              {text.closeAnyway}
            </Button>
          )}
          <Button look="primary" onClick={onClose}>
            {text.done}
          </Button>
        </>
      }
    >
      <Notice tone={isAsking ? 'error' : 'warning'}>{isAsking ? text.notCopied : text.secretOnce}</Notice>
      <CodeBlock code={issued.value} />
      {isRotated && <p>{oldSecretText(issued)}</p>}
      {children}
      <Snippets issued={issued} />
    </Dialog>
  )
}

const oldSecretText = ({ previous_expires_at: until }: IssuedKey): string =>
  until !== undefined && until * 1_000 > Date.now() ? text.oldUntil(time(until * 1_000)) : text.oldEnded

const kinds = ['curl', 'openai', 'anthropic'] as const

function Snippets({ issued }: { readonly issued: IssuedKey }) {
  const [kind, setKind] = useState<(typeof kinds)[number]>('curl')
  const url = useInferenceUrl()
  const [served] = useModelNames()
  if (!('project_id' in issued)) return <CodeBlock code={adminSnippet(issued.value)} />
  const model = issued.models?.[0] ?? served
  return (
    <section className={styles.snippets} aria-label={text.tryIt}>
      <header>
        <h3>{text.tryIt}</h3>
        <Segmented
          label={text.tryIt}
          options={kinds}
          nameOf={(each) => text.snippets[each]}
          value={kind}
          onChange={setKind}
        />
      </header>
      <CodeBlock code={snippets[kind]({ url, secret: issued.value, model: model ?? exampleModel })} />
      {model === undefined && <small>{text.snippetHint(exampleModel)}</small>}
    </section>
  )
}

const exampleModel = 'MODEL'

type SnippetParts = { readonly url: string; readonly secret: string; readonly model: string }

const snippets = {
  curl: ({ url, secret, model }: SnippetParts) =>
    [
      `curl ${url}/v1/messages \\`,
      `  -H 'x-api-key: ${secret}' -H 'content-type: application/json' \\`,
      `  -d '{"model":"${model}","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}'`,
    ].join('\n'),
  openai: ({ url, secret, model }: SnippetParts) =>
    [
      `import OpenAI from 'openai'`,
      ``,
      `const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${secret}' })`,
      `const response = await client.responses.create({ model: '${model}', input: 'Hello' })`,
      `console.log(response.output_text)`,
    ].join('\n'),
  anthropic: ({ url, secret, model }: SnippetParts) =>
    [
      `import Anthropic from '@anthropic-ai/sdk'`,
      ``,
      `const client = new Anthropic({ baseURL: '${url}', apiKey: '${secret}' })`,
      `const messages = [{ role: 'user', content: 'Hello' }]`,
      `const message = await client.messages.create({ model: '${model}', max_tokens: 100, messages })`,
      `console.log(message.content)`,
    ].join('\n'),
}

const adminSnippet = (secret: string): string =>
  `curl ${serverUrl}/v1/organization/me \\\n  -H 'authorization: Bearer ${secret}'`
