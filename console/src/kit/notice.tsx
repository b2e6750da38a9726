import type { ReactNode } from 'react'
import { errorText, isApiError, isSignedOutError } from '../api/error.ts'
import { words } from '../words/en.ts'
import { Shape, type Tone } from './badge.tsx'
import styles from './notice.module.css'

type NoticeProps = { readonly tone: Tone; readonly children: ReactNode }

/** A line in the colour of its meaning, that stays while the state does. */
export function Notice({ tone, children }: NoticeProps) {
  return (
    <div className={styles.notice} data-tone={tone} role={tone === 'error' || tone === 'deny' ? 'alert' : 'status'}>
      <Shape tone={tone} />
      <span>{children}</span>
    </div>
  )
}

/** Says that files manage a resource, so that the next apply overwrites changes made in the console. */
export function ManagedNotice({ owner }: { readonly owner: string | undefined }) {
  return owner === undefined ? null : <Notice tone="warning">{words.common.managed(owner)}</Notice>
}

/** Why a change failed, in the words of the server. Nothing if the session is over, because a dialog asks to sign in again. */
export function ErrorNotice({ error }: { readonly error: unknown }) {
  if (isSignedOutError(error)) return null
  return (
    <Notice tone="error">
      {errorText(error)} {isApiError(error) && <code>{error.code}</code>}
    </Notice>
  )
}
