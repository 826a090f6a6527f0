# shellcheck shell=sh
# The calls in the life of a pod, in their order.
# shellcheck source=test/kernels/guest/testing.sh
. /tests/testing.sh

afresh life
pod a b
same "ADD gives an address" 198.51.100.2 "$(add a)"
same "the file of a reservation names its container" "$(printf 'a\r\neth0')" "$(cat "$data/net/198.51.100.2")"
same "CHECK finds the reservation" "" "$(/tests/call.sh CHECK a)"
same "STATUS is silent while an address is free" "" "$(/tests/call.sh STATUS a)"
same "another pod gets another address" 198.51.100.3 "$(add b)"
same "a full range of living pods gives none" full "$(add c /run/netns/a)"
same "DEL releases" "" "$(del a)"
same "only that one" 198.51.100.3 "$(held)"
same "DEL may come again" "" "$(del a)"
same "a released address is given again" 198.51.100.2 "$(add a)"
