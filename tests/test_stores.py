"""Stores by name: what is there, what may be called so, and which version is in use."""

import logging
import threading
import time

import pytest

from sssd_demo.errors import UserError
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.stores import Stores, default_folder


def store(*documents):
    return Datastore.build(documents, fingerprint="abcd", vocab_size=100)


@pytest.fixture
def stores(tmp_path):
    stores = Stores(tmp_path / "stores", "abcd")
    stores.save("one", store([1, 2]))
    stores.save("two", store([3, 4, 5]))
    return stores


def test_stores_are_found_by_name_and_opened_once(stores):
    assert stores.names() == ["one", "two"]
    assert stores.open("two").count([3, 4]) == 1
    assert stores.open("two") is stores.open("two")
    assert stores.header("one").tokens == 2


def test_a_folder_that_is_not_there_has_no_stores(tmp_path):
    stores = Stores(tmp_path / "nowhere")
    assert stores.names() == []
    with pytest.raises(UserError, match="no datastore 'x'; the known ones are: none yet"):
        stores.open("x")


def test_a_folder_that_cannot_be_looked_into_has_no_stores_and_hides_none_that_are_shipped(tmp_path):
    Stores(tmp_path / "shipped").save("base", store([3]))
    stores = Stores(tmp_path / ("n" * 300), shipped=tmp_path / "shipped")
    assert stores.names() == ["base"]
    assert stores.open("base").count([3]) == 1
    with pytest.raises(UserError, match="no datastore 'x'; the known ones are: base"):
        stores.open("x")
    with pytest.raises(UserError, match="cannot be written to"), stores.changing("x"):
        pass


def test_an_unknown_name_lists_the_known_ones(stores):
    with pytest.raises(UserError, match="no datastore 'three'; the known ones are: one, two"):
        stores.open("three")


@pytest.mark.parametrize("name", ["", "none", "None", "../one", "a b", ".hidden", "-x", "a" * 65, "é", "a\n", "a.b"])
def test_a_bad_name_is_refused_before_anything_is_touched(stores, name):
    for use in (stores.open, stores.header, stores.path, lambda name: stores.save(name, store([1]))):
        with pytest.raises(UserError, match="cannot be called"):
            use(name)
    assert stores.names() == ["one", "two"]


def test_a_replaced_store_is_read_again(stores):
    before = stores.open("one")
    stores.save("one", store([7]))
    assert stores.open("one").count([7]) == 1
    assert before.count([7]) == 0


def test_a_replacement_that_cannot_be_used_leaves_the_open_version_in_use(stores, caplog):
    before = stores.open("one")
    damaged = stores.path("one").with_suffix(".new")
    damaged.write_bytes(b"sssdstor, half written")
    damaged.replace(stores.path("one"))
    with caplog.at_level(logging.WARNING):
        assert stores.open("one") is before
    assert "datastore one cannot be used" in caplog.text
    with pytest.raises(UserError, match="datastore one cannot be used"):
        Stores(stores.path("one").parent).open("one")


def test_another_tokenizers_store_cannot_be_opened(stores):
    with pytest.raises(UserError, match="datastore one .* another tokenizer"):
        Stores(stores.path("one").parent, "ffff").open("one")
    assert Stores(stores.path("one").parent).open("one").tokens == 2


def test_unfinished_and_foreign_files_are_no_stores(stores):
    folder = stores.path("one").parent
    (folder / ".one.store.x1.unfinished").write_bytes(b"")
    (folder / "notes.txt").write_text("hello")
    assert stores.names() == ["one", "two"]


def test_the_default_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SSSD_DEMO_DATA", str(tmp_path))
    assert default_folder() == tmp_path / "stores"


def test_a_folder_that_cannot_be_made_is_a_users_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be created"):
        Stores(tmp_path / "file" / "stores").save("x", store([1]))


@pytest.fixture
def both(tmp_path):
    """A user's folder with "one" and "two", and shipped stores "base" and "two"."""
    Stores(tmp_path / "mine").save("one", store([1]))
    Stores(tmp_path / "mine").save("two", store([2]))
    Stores(tmp_path / "shipped").save("base", store([3]))
    Stores(tmp_path / "shipped").save("two", store([4]))
    return Stores(tmp_path / "mine", shipped=tmp_path / "shipped")


def test_shipped_stores_are_found_beside_the_users_own_and_give_way_to_them(both):
    assert both.names() == ["base", "one", "two"]
    assert both.open("base").count([3]) == 1
    assert both.open("two").count([2]) == 1
    assert [name for name in both.names() if both.is_shipped(name)] == ["base"]


def test_only_the_users_own_stores_can_be_removed(both):
    both.open("two")
    both.remove("two")
    assert both.open("two").count([4]) == 1, "the shipped one of that name is there again"
    for name in ("two", "base"):
        with pytest.raises(UserError, match=f"datastore {name} comes with the project and cannot be removed"):
            both.remove(name)
    with pytest.raises(UserError, match="no datastore 'three'; the known ones are: base, one, two"):
        both.remove("three")


def test_a_folder_that_is_named_like_a_store_is_none(tmp_path):
    (tmp_path / "odd.store").mkdir()
    assert Stores(tmp_path).names() == []
    with pytest.raises(UserError, match="There is no datastore 'odd'"):
        Stores(tmp_path).open("odd")


def test_the_shared_store_is_one_per_tokenizer_found_by_no_name_and_kept(tmp_path):
    stores = Stores(tmp_path / "mine", "abcd", vocab_size=100)
    shared = stores.shared()
    shared.append([1, 2, 3])
    assert stores.shared() is shared
    assert stores.names() == []
    other = Stores(tmp_path / "mine", "ef01", vocab_size=100)
    assert other.shared().sub_indices == ()
    with pytest.raises(UserError, match="in use by another process"):
        Stores(tmp_path / "mine", "abcd", vocab_size=100).shared()
    for each in (stores, other):
        each.close()
    again = Stores(tmp_path / "mine", "abcd", vocab_size=100)
    assert again.shared().wait(20)
    assert [len(sub_index.find([2, 3])) for sub_index in again.shared().sub_indices] == [1]
    again.close()


def test_stores_of_another_tokenizer_and_damaged_ones_are_not_offered(stores, tmp_path):
    stores.save("foreign", Datastore.build([[1]], fingerprint="else", vocab_size=100))
    (tmp_path / "stores" / "broken.store").write_bytes(b"nothing")
    assert stores.names() == ["broken", "foreign", "one", "two"]
    assert stores.usable_names() == ["one", "two"]


def test_what_killed_ones_left_is_removed_but_not_what_somebody_is_writing(stores, tmp_path):
    folder = tmp_path / "stores"
    names = (".one.store.01234567.unfinished", ".gone.store.01234567.unfinished", ".shared-abcd.live.12.unfinished")
    left, gone, live = (folder / name for name in names)
    for each in (left, gone, live):
        each.write_bytes(b"half")
    with stores.changing("one"):
        assert not left.exists()
        assert not gone.exists()
        assert live.exists(), "it has a lock of its own"
        left.write_bytes(b"being written")
        with Stores(folder).changing("two"):
            assert left.exists()
        Stores(folder).remove("two")
        assert left.exists()
    stores.remove("one")
    assert not left.exists()
    assert stores.names() == []


def test_two_who_add_to_one_store_do_so_one_after_the_other(stores):
    def add():
        with stores.changing("one"):
            before = stores.open("one")
            time.sleep(0.02)  # long enough for the other to read what will soon be old
            stores.save("one", before.with_documents([[7, 8]], vocab_size=100))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stores.open("one").count([7, 8]) == 4
