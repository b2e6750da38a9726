import { RouterProvider } from '@tanstack/react-router'
import { FailureState } from '../kit/state.tsx'
import { isApiError } from '../api/error.ts'
import { words } from '../words/en.ts'
import { router } from './router.tsx'
import { MeProvider, useMeQuery } from '../session/session.tsx'
import { SignInDialog, SignInPage } from './sign-in.tsx'
import { useSignedOut } from '../session/signed-out.ts'

/** Signed out: the sign-in page. Signed in: the pages, and a dialog over them if the session ends meanwhile. */
export function App({ linkError }: { readonly linkError: string | undefined }) {
  const me = useMeQuery()
  const isSignedOut = useSignedOut()
  if (me.data !== undefined)
    return (
      <MeProvider me={me.data}>
        <RouterProvider router={router} />
        {isSignedOut && <SignInDialog />}
      </MeProvider>
    )
  if (isApiError(me.error) && me.error.status === 401) return <SignInPage linkError={linkError} />
  if (me.isError)
    return <FailureState title={words.signIn.unavailable} error={me.error} onRetry={() => void me.refetch()} />
  return null
}
