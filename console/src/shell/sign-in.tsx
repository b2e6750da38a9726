import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useId, useRef, type SubmitEvent } from 'react'
import { api, oidcAddress, readSignInWays, serverUrl, signIn } from '../api/client.ts'
import { errorText, isApiError } from '../api/error.ts'
import { Shape } from '../kit/badge.tsx'
import { Button, buttonClass } from '../kit/button.tsx'
import { CodeBlock } from '../kit/code-block.tsx'
import { Field } from '../kit/field.tsx'
import { Logo } from '../kit/icon.tsx'
import { words } from '../words/en.ts'
import { usePageTitle } from '../session/title.ts'
import { continueSession } from '../session/query-client.ts'
import styles from './sign-in.module.css'

const text = words.signIn

/** The whole page, before anybody signed in. */
export function SignInPage({ linkError }: { readonly linkError: string | undefined }) {
  usePageTitle(text.title)
  return (
    <main className={styles.page}>
      <div className={styles.box}>
        <div className={styles.brand}>
          <Logo />
          {words.common.product}
        </div>
        <h1>{text.title}</h1>
        {linkError !== undefined && (
          <p className={styles.banner} data-tone="warning" role="alert">
            <Shape tone="warning" />
            {linkError}
          </p>
        )}
        <IdentityProvider />
        <KeyForm />
        <div className={styles.help}>
          <p>{text.noKey}</p>
          <CodeBlock code={text.command} />
          <p>{text.commandHint}</p>
        </div>
      </div>
      <footer className={styles.footer}>
        <span>{new URL(serverUrl).host}</span>
        <a href={`${serverUrl}/docs`}>{text.reference}</a>
      </footer>
    </main>
  )
}

/** Over the page, when the session ends while somebody works: the page below keeps its state. */
export function SignInDialog() {
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    <dialog ref={dialog} className={styles.dialog} aria-labelledby={title} onCancel={(event) => event.preventDefault()}>
      <h2 id={title}>{text.again}</h2>
      <p className={styles.note}>{text.againText}</p>
      <IdentityProvider isNewTab />
      <KeyForm />
    </dialog>
  )
}

/**
 * The way through the identity provider, if there is one. Over a page it opens a new tab, so that the page keeps its state, and
 * goes on when this tab is used again.
 */
function IdentityProvider({ isNewTab = false }: { readonly isNewTab?: boolean }) {
  const provider = useIdentityProvider()
  useEffect(() => {
    if (!isNewTab) return undefined
    window.addEventListener('focus', goOn)
    return () => window.removeEventListener('focus', goOn)
  }, [isNewTab])
  if (!provider) return null
  return (
    <div className={styles.provider}>
      <a
        className={buttonClass({ look: 'primary' })}
        href={oidcAddress()}
        {...(isNewTab && { target: '_blank', rel: 'noopener', title: text.inNewTab })}
      >
        {text.with(provider.name)}
      </a>
      <p>{text.orKey}</p>
    </div>
  )
}

const useSignInWays = () => useQuery({ queryKey: ['sign_in_ways'], queryFn: readSignInWays, staleTime: Infinity })

const useIdentityProvider = () => useSignInWays().data?.oidc

/** Continues if another tab has signed this browser in. */
const goOn = (): void => {
  api.GET('/v1/organization/me').then(continueSession, () => undefined)
}

/** The field has the focus, unless the identity provider is the usual way. */
function KeyForm() {
  const { data: ways, isPending } = useSignInWays()
  const provider = ways?.oidc
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (!isPending && !provider) field.current?.focus()
  }, [isPending, provider])
  const mutation = useMutation({
    mutationFn: (key: string) => signIn({ key }),
    onSuccess: continueSession,
  })
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const key = new FormData(event.currentTarget).get('key')
    mutation.mutate(typeof key === 'string' ? key.trim() : '')
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <Field label={text.key} hint={text.keyHint} error={mutation.isError ? signInError(mutation.error) : undefined}>
        {(props) => (
          <input {...props} ref={field} name="key" type="password" autoComplete="off" spellCheck={false} required />
        )}
      </Field>
      <Button look={provider ? 'normal' : 'primary'} type="submit" disabled={mutation.isPending}>
        {mutation.isPending ? text.signingIn : text.submit}
      </Button>
    </form>
  )
}

/** The server does not say which part of a wrong key was wrong. */
const signInError = (error: unknown): string =>
  isApiError(error) && error.status === 401 ? text.wrongKey : errorText(error)
