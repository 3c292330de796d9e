# Generated from _async/resources/factories/webhooks.py by scripts/unasync.py; do not edit.
"""Webhooks of a factory: the addresses that senders deliver to."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Union

from typing_extensions import Literal, Unpack

from ...._options import NOT_GIVEN, NotGiven, RequestOptions
from ....types import Webhook, WebhookCreated, WebhookList, WebhookRotated
from ...resource import Resource, sync_raw
from ...streamed import sync_streamed


class Webhooks(Resource):
    """Webhooks of a factory: the addresses that senders deliver to."""

    _place = "factories.webhooks"

    @cached_property
    def with_raw_response(self) -> WebhooksWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return WebhooksWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> WebhooksWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return WebhooksWithStreamingResponse(self)

    def list(self, factory_uid: str, **options: Unpack[RequestOptions]) -> WebhookList:
        """List a factory's webhooks.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.

        Returns:
            All of them, by slug.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/factory/{factory_uid}/webhooks",
            {"factory_uid": factory_uid},
            cast_to=WebhookList,
            options=options,
        )

    def create(
        self,
        factory_uid: str,
        *,
        name: str,
        auth_mode: Union[Literal["token", "url_token", "signature"], NotGiven] = NOT_GIVEN,
        signature_scheme: Union[str, NotGiven] = NOT_GIVEN,
        secret: Union[str, NotGiven] = NOT_GIVEN,
        secret_name: Union[str, NotGiven] = NOT_GIVEN,
        delivery_id_header: Union[str, NotGiven] = NOT_GIVEN,
        replay_protection: Union[Literal["body"], NotGiven] = NOT_GIVEN,
        secret_overlap_minutes: Union[int, NotGiven] = NOT_GIVEN,
        enabled: Union[bool, NotGiven] = NOT_GIVEN,
        description: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> WebhookCreated:
        """Make a webhook.

        The slug is made of the name, the UID of the slugs of factory and webhook: one that is deleted and made again
        has its URL back. At most 20 webhooks a factory: 422. On a factory whose definitions are managed in files
        nothing changes: 409 with the `file`, the `key` in it and the `edited_text` that does what was asked.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
            name: Label for people, on one line. The slug is made of the first one.
            auth_mode: How senders prove themselves. `token`: `Authorization: Bearer <secret>`. `url_token`: the
                secret is the last part of the URL. `signature`: each request is signed by the provider’s scheme.
            signature_scheme: Signature scheme of the provider, with `auth_mode` `signature` only; `GET
                /signature-schemes` lists them. `github`, `stripe`, `standard_webhooks`, `sentry`, `pagerduty`,
                `vercel` or `circleci`.
            secret: The credential, for example the provider’s signing secret; kept as a secret of the factory and
                never shown.
            secret_name: Name of the managed secret: an existing one that the factory may use for webhooks is used as
                it is, any other is made. By default `<slug>-webhook`.
            delivery_id_header: Request header whose value identifies a delivery: a second delivery with the same
                value starts nothing. A header of credentials, of the connection, of signatures, or one that is the
                same in many requests is refused.
            replay_protection: `body`: the signed body itself identifies a delivery too, for ever, so that a captured
                request that is sent again under another delivery ID starts nothing. With `auth_mode` `signature`
                only; for schemes that sign no time.
            secret_overlap_minutes: Minutes for which the value of before is accepted too when the secret has got
                another one; none unless said.
            enabled: Whether it takes deliveries at once; by default as soon as its secret has a value.
            description: What it is for.

        Returns:
            The webhook, and what is shown this once: a generated secret, the full URL.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
            UnprocessableEntityError: known, and not possible here.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/webhooks",
            {"factory_uid": factory_uid},
            cast_to=WebhookCreated,
            body={
                "name": name,
                "auth_mode": auth_mode,
                "signature_scheme": signature_scheme,
                "secret": secret,
                "secret_name": secret_name,
                "delivery_id_header": delivery_id_header,
                "replay_protection": replay_protection,
                "secret_overlap_minutes": secret_overlap_minutes,
                "enabled": enabled,
                "description": description,
            },
            options=options,
        )

    def retrieve(self, factory_uid: str, webhook_uid: str, **options: Unpack[RequestOptions]) -> Webhook:
        """Look at a webhook.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            webhook_uid: The webhook.

        Returns:
            The webhook, and the automations that it can start.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/factory/{factory_uid}/webhooks/{webhook_uid}",
            {"factory_uid": factory_uid, "webhook_uid": webhook_uid},
            cast_to=Webhook,
            options=options,
        )

    def update(
        self,
        factory_uid: str,
        webhook_uid: str,
        *,
        name: Union[str, NotGiven] = NOT_GIVEN,
        auth_mode: Union[Literal["token", "url_token", "signature"], NotGiven] = NOT_GIVEN,
        signature_scheme: Union[str, None, NotGiven] = NOT_GIVEN,
        secret_name: Union[str, NotGiven] = NOT_GIVEN,
        delivery_id_header: Union[str, None, NotGiven] = NOT_GIVEN,
        replay_protection: Union[Literal["body"], None, NotGiven] = NOT_GIVEN,
        secret_overlap_minutes: Union[int, None, NotGiven] = NOT_GIVEN,
        enabled: Union[bool, NotGiven] = NOT_GIVEN,
        description: Union[str, None, NotGiven] = NOT_GIVEN,
        if_match: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> Webhook:
        """Change a webhook.

        Acts on the next delivery. A webhook whose secret has no value cannot be enabled: 409. On a factory whose
        definitions are managed in files nothing changes: 409 with the `file`, the `key` in it and the `edited_text`
        that does what was asked.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
            webhook_uid: The webhook.
            name: New label; slug and URL stay.
            auth_mode: How senders prove themselves. `token`: `Authorization: Bearer <secret>`. `url_token`: the
                secret is the last part of the URL. `signature`: each request is signed by the provider’s scheme.
            signature_scheme: Signature scheme of the provider, with `auth_mode` `signature` only; `GET
                /signature-schemes` lists them. null removes it.
            secret_name: Another existing managed secret that the factory may use for webhooks; its value is not
                shown.
            delivery_id_header: Request header whose value identifies a delivery: a second delivery with the same
                value starts nothing. A header of credentials, of the connection, of signatures, or one that is the
                same in many requests is refused. null removes it.
            replay_protection: `body`: the signed body itself identifies a delivery too, for ever, from the next
                delivery on. With `auth_mode` `signature` only. null removes it.
            secret_overlap_minutes: Minutes for which the value of before is accepted too when the secret has got
                another one. Fewer shorten an overlap that is under way, null ends it.
            enabled: false: senders get 404 at once; automations and history stay.
            description: What it is for; null removes it.
            if_match: ETag of the state that the call is about (header `ETag` of what was read: `with_raw_response`);
                another state is a ConflictError.

        Returns:
            The webhook as it is now.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "PATCH",
            "/factory/{factory_uid}/webhooks/{webhook_uid}",
            {"factory_uid": factory_uid, "webhook_uid": webhook_uid},
            cast_to=Webhook,
            body={
                "name": name,
                "auth_mode": auth_mode,
                "signature_scheme": signature_scheme,
                "secret_name": secret_name,
                "delivery_id_header": delivery_id_header,
                "replay_protection": replay_protection,
                "secret_overlap_minutes": secret_overlap_minutes,
                "enabled": enabled,
                "description": description,
            },
            headers={"If-Match": if_match},
            options=options,
        )

    def delete(
        self,
        factory_uid: str,
        webhook_uid: str,
        *,
        if_match: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> None:
        """Delete a webhook.

        Senders get 404 at once. Automations that select it stay and do not fire for it; its secret stays among the
        secrets of the factory. On a factory whose definitions are managed in files nothing changes: 409 with the
        `file`, the `key` in it and the `edited_text` that does what was asked.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
            webhook_uid: The webhook.
            if_match: ETag of the state that the call is about (header `ETag` of what was read: `with_raw_response`);
                another state is a ConflictError.

        Returns:
            Nothing.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "DELETE",
            "/factory/{factory_uid}/webhooks/{webhook_uid}",
            {"factory_uid": factory_uid, "webhook_uid": webhook_uid},
            cast_to=type(None),
            headers={"If-Match": if_match},
            options=options,
        )

    def rotate(
        self,
        factory_uid: str,
        webhook_uid: str,
        *,
        secret: Union[str, NotGiven] = NOT_GIVEN,
        if_match: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> WebhookRotated:
        """Replace a webhook's secret.

        Provider schemes need the provider's new `secret`; for the others one is generated. The old one is dead with
        the answer, for every webhook of the factory that shares it; the version of each counts one more, so that of
        two who rotate with If-Match the second is told. A secret of the team is an admin's to rotate: 403; one that
        another factory uses too is not rotated here: 409. On a factory whose definitions are managed in files: 409,
        which names the secret to set.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
            webhook_uid: The webhook.
            secret: The provider’s new signing secret: required for provider schemes, possible for
                `standard_webhooks`, refused otherwise.
            if_match: ETag of the state that the call is about (header `ETag` of what was read: `with_raw_response`);
                another state is a ConflictError.

        Returns:
            The webhook, every webhook that moved with it, and what is shown this once.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
            UnprocessableEntityError: known, and not possible here.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/webhooks/{webhook_uid}/rotate",
            {"factory_uid": factory_uid, "webhook_uid": webhook_uid},
            cast_to=WebhookRotated,
            body={"secret": secret},
            headers={"If-Match": if_match},
            options=options,
        )


class WebhooksWithRawResponse:
    """`Webhooks` with responses as they came."""

    def __init__(self, resource: Webhooks) -> None:
        unread = Webhooks(resource._client._raw)
        self.list = sync_raw(unread.list)
        self.create = sync_raw(unread.create)
        self.retrieve = sync_raw(unread.retrieve)
        self.update = sync_raw(unread.update)
        self.delete = sync_raw(unread.delete)
        self.rotate = sync_raw(unread.rotate)


class WebhooksWithStreamingResponse:
    """`Webhooks` with responses that are read piece by piece."""

    def __init__(self, resource: Webhooks) -> None:
        unread = Webhooks(resource._client._streamed)
        self.list = sync_streamed(unread.list)
        self.create = sync_streamed(unread.create)
        self.retrieve = sync_streamed(unread.retrieve)
        self.update = sync_streamed(unread.update)
        self.delete = sync_streamed(unread.delete)
        self.rotate = sync_streamed(unread.rotate)
